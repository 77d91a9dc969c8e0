#include "engine/connection/pass_pieces.h"

#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

uint32_t PassPieces::Add(uint32_t last, size_t bytes) {
  const auto index = static_cast<uint32_t>(pieces_.size());
  pieces_.emplace_back().bytes = bytes;
  if (last != 0) pieces_[last].next = index;
  return index;
}

void PassPieces::SetOwner(std::shared_ptr<const void> owner) {
  if (owners_.back().owner != owner) owners_.push_back({std::move(owner), 0});
  ++owners_.back().pieces;
  pieces_.back().owner = static_cast<uint32_t>(owners_.size() - 1);
}

void PassPieces::SetLender(Lender* lender) {
  SetOwner(std::shared_ptr<void>(std::shared_ptr<void>(), lender));
  pieces_.back().is_lent = true;
}

void PassPieces::Release(uint32_t first) {
  for (uint32_t at = first; at != 0; at = pieces_[at].next) {
    Piece& piece = pieces_[at];
    piece.is_released = true;
    Owner& owner = owners_[piece.owner];
    if (piece.owner != 0 && --owner.pieces == 0) owner.owner.reset();
  }
  while (pieces_.back().is_released) pieces_.pop_back();
  while (owners_.size() > 1 && owners_.back().pieces == 0) owners_.pop_back();
}

void PassPieces::Clear() {
  pieces_.resize(1);
  owners_.resize(1);
}

size_t PassPieces::BytesFrom(uint32_t first, size_t offset) const {
  size_t bytes = 0;
  for (uint32_t at = first; at != 0; at = pieces_[at].next) bytes += pieces_[at].bytes;
  return bytes - (first == 0 ? 0 : offset);
}

int PassPieces::Fill(uint32_t first, size_t offset, iovec* vectors, int most,
                     uint32_t* next) const {
  int count = 0;
  uint32_t at = first;
  for (; at != 0 && count < most && !pieces_[at].is_file(); at = pieces_[at].next) {
    const std::string_view bytes = pieces_[at].view().substr(at == first ? offset : 0);
    vectors[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
  }
  *next = at;
  return count;
}

void PassPieces::Advance(size_t bytes, uint32_t* first, size_t* offset,
                         std::vector<uint32_t>* done) const {
  while (bytes > 0) {
    const Piece& front = pieces_[*first];
    const size_t left = front.bytes - *offset;
    if (bytes < left) {
      *offset += bytes;
      return;
    }
    bytes -= left;
    *offset = 0;
    if (front.block_id != OutputQueue::kNoBlock) done->push_back(front.block_id);
    *first = front.next;
  }
}

void PassPieces::MoveTo(OutputQueue* queue, uint32_t first, size_t offset) const {
  const auto is_shared = [](const Piece& from) {
    return from.owner != 0 && from.bytes >= limits::kSharedBytesMin;
  };
  const auto is_copied = [&](const Piece& from) {
    return from.block_id == OutputQueue::kNoBlock && !from.is_lent && !is_shared(from);
  };
  size_t copied = 0;
  for (uint32_t at = first; at != 0; at = pieces_[at].next) {
    if (is_copied(pieces_[at])) copied += pieces_[at].bytes;
  }
  for (uint32_t at = first; at != 0; at = pieces_[at].next) {
    const Piece& from = pieces_[at];
    const size_t skip = std::exchange(offset, 0);
    if (from.is_file()) {
      queue->AppendFile(from.block_id,
                        std::static_pointer_cast<const files::FilePart>(owners_[from.owner].owner),
                        skip);
      continue;
    }
    const std::string_view bytes = from.view().substr(skip);
    if (from.block_id != OutputQueue::kNoBlock) {
      queue->AppendBlock(from.block_id, bytes);
    } else if (from.is_lent) {
      Lender::Kept kept =
          static_cast<Lender*>(const_cast<void*>(owners_[from.owner].owner.get()))->Keep(bytes);
      queue->AppendShared(std::move(kept.owner), kept.bytes);
    } else if (is_shared(from)) {
      queue->AppendShared(owners_[from.owner].owner, bytes);
    } else {
      copied -= from.bytes;
      queue->Append(bytes, copied);
    }
  }
}

void PassPieces::CollectBlocks(uint32_t first, std::vector<uint32_t>* blocks) const {
  for (uint32_t at = first; at != 0; at = pieces_[at].next) {
    if (pieces_[at].block_id != OutputQueue::kNoBlock) blocks->push_back(pieces_[at].block_id);
  }
}

}  // namespace httpsys::engine
