#include "engine/connection/output_queue.h"

#include <utility>

#include "base/limits.h"
#include "base/process_memory.h"

namespace httpsys::engine {

namespace {

// Small pieces are joined up to this size, so that many of them do not become many vectors.
constexpr size_t kJoinBytesMax = 64 * 1024;

}  // namespace

void OutputQueue::Append(std::string_view bytes, size_t more) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  kept_bytes_ += std::min(bytes.size(), kPieceKeptMax);
  const bool is_joined = piece_count() > 0 && pieces_.back().is_own() &&
                         pieces_.back().own.size() + bytes.size() <= kJoinBytesMax;
  if (!is_joined) pieces_.emplace_back();
  std::string* own = &pieces_.back().own;
  const size_t needed = own->size() + bytes.size();
  // std::string would double its size, which costs memory for a stalled client. Growing by at least
  // a quarter avoids a copy for each of many small pieces.
  if (own->capacity() < needed) {
    const size_t wanted = std::max(needed + more, own->size() + own->size() / 4);
    own->reserve(std::min(wanted, std::max(needed, kJoinBytesMax)));
  }
  own->append(bytes);
}

void OutputQueue::AppendBlock(uint32_t block_id, std::string_view bytes) {
  bytes_ += bytes.size();
  Piece piece;
  piece.block_id = block_id;
  piece.lent = bytes;
  pieces_.push_back(std::move(piece));
}

void OutputQueue::AppendShared(std::shared_ptr<const void> owner, std::string_view bytes) {
  bytes_ += bytes.size();
  kept_bytes_ += std::min(bytes.size(), kPieceKeptMax);
  Piece piece;
  piece.owner = std::move(owner);
  piece.lent = bytes;
  pieces_.push_back(std::move(piece));
}

void OutputQueue::AppendFile(uint32_t block_id, std::shared_ptr<const files::FilePart> part,
                             uint64_t offset) {
  bytes_ += part->bytes - offset;
  Piece piece;
  piece.block_id = block_id;
  piece.is_file = true;
  piece.owner = std::move(part);
  piece.offset = offset;
  pieces_.push_back(std::move(piece));
  ++files_;
}

OutputQueue::FilePiece OutputQueue::file_at(size_t skip) const {
  const size_t at = first_ + skip;
  if (at >= pieces_.size() || !pieces_[at].is_file) return {};
  const Piece& piece = pieces_[at];
  const files::FilePart& part = piece.part();
  return {&part, part.start + piece.offset, part.bytes - piece.offset};
}

size_t OutputQueue::BytesBeforeFile() const {
  size_t bytes = 0;
  for (size_t at = first_; !pieces_[at].is_file; ++at) {
    bytes += pieces_[at].size() - pieces_[at].offset;
  }
  return bytes;
}

uint32_t OutputQueue::DropFront(uint64_t* sent) {
  const Piece& front = pieces_[first_];
  const uint32_t block_id = front.block_id;
  *sent = front.offset;
  bytes_ -= front.size() - front.offset;
  PopFront();
  return block_id;
}

int OutputQueue::Peek(iovec* vectors, int count) const {
  int used = 0;
  for (size_t at = first_; at < pieces_.size() && used < count; ++at) {
    const Piece& piece = pieces_[at];
    if (piece.is_file) break;
    const std::string_view left = piece.bytes().substr(piece.offset);
    vectors[used].iov_base = const_cast<char*>(left.data());
    vectors[used].iov_len = left.size();
    ++used;
  }
  return used;
}

void OutputQueue::Remove(size_t bytes, std::vector<uint32_t>* done) {
  bytes_ -= bytes;
  removed_ += bytes;
  std::erase_if(marks_, [this](uint64_t mark) { return mark <= removed_; });
  while (bytes > 0) {
    Piece& piece = pieces_[first_];
    const size_t step = std::min(bytes, piece.size() - piece.offset);
    piece.offset += step;
    bytes -= step;
    if (piece.offset < piece.size()) return;
    if (piece.block_id != kNoBlock) done->push_back(piece.block_id);
    PopFront();
  }
}

void OutputQueue::PopFront() {
  const Piece& front = pieces_[first_];
  if (front.block_id == kNoBlock) kept_bytes_ -= std::min(front.bytes().size(), kPieceKeptMax);
  if (front.is_file) --files_;
  // Frees the memory of the piece at once: assignment of an empty string would keep it.
  std::string().swap(pieces_[first_].own);
  pieces_[first_] = Piece();
  ++first_;
  // Erase only when at least half of the vector was sent, so that pieces move no more often than
  // pieces are sent.
  if (first_ < piece_count()) return;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
  first_ = 0;
}

void OutputQueue::CollectBlocks(std::vector<uint32_t>* blocks) const {
  for (size_t at = first_; at < pieces_.size(); ++at) {
    if (pieces_[at].block_id != kNoBlock) blocks->push_back(pieces_[at].block_id);
  }
}

HeapTrim::HeapTrim(uv_loop_t* loop) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void HeapTrim::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void HeapTrim::OnDropped() {
  ++dropped_;
  StartAfterMany();
}

// Starts the timer of the next trim after many drops. Drops while the timer runs do not postpone
// it; if they are many, another trim follows.
void HeapTrim::StartAfterMany() {
  if (dropped_ < limits::kTrimAfterDrops) return;
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  dropped_ = 0;
  const auto trim = [](uv_timer_t* timer) {
    TrimHeap();
    static_cast<HeapTrim*>(timer->data)->StartAfterMany();
  };
  uv_timer_start(&timer_, trim, limits::kUnusedMs, 0);
}

}  // namespace httpsys::engine
