#include "engine/connection/output_pass.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "base/process_memory.h"
#include "base/socket_calls.h"
#include "engine/connection/input.h"
#include "engine/connection/sharing_marks.h"

namespace httpsys::engine {
namespace {

// Returns the error to report. The peer's end comes before the reset that answers bytes sent after
// it. So if the end has not been read yet, the end is what happened. libuv, which reads before it
// writes, tells the application the same.
int WriteError(const Connection& connection, int error) {
  return error == EPIPE && !connection.end.peer_ended() ? 0 : error;
}

// Shortens the vectors to `bytes`. Returns how many are left.
int Shorten(iovec* vectors, int count, size_t bytes) {
  for (int i = 0; i < count; ++i) {
    vectors[i].iov_len = std::min(vectors[i].iov_len, bytes);
    bytes -= vectors[i].iov_len;
    if (bytes == 0) return i + 1;
  }
  return count;
}

}  // namespace

OutputPass::OutputPass(uv_loop_t* loop, OutputOwner* owner)
    : owner_(owner),
      throttle_(loop, [this](Connection* connection) { OnReleased(connection); }),
      pieces_(1),
      owners_(1) {
  uv_timer_init(loop, &trim_timer_);
  trim_timer_.data = this;
}

void OutputPass::Close() {
  throttle_.Close();
  uv_close(reinterpret_cast<uv_handle_t*>(&trim_timer_), nullptr);
}

ssize_t OutputPass::Write(Connection* connection, iovec* vectors, int count, bool is_end) {
  if (connection->tls != nullptr) return connection->tls->Write(vectors, count, is_end);
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  constexpr int kFlags = kSendFlags | MSG_DONTWAIT;
  ssize_t sent;
  do {
    sent = count == 1 ? send(connection->fd, vectors->iov_base, vectors->iov_len, kFlags)
                      : sendmsg(connection->fd, &message, kFlags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

OutputPass::Piece* OutputPass::AddPiece(Connection* connection, size_t bytes,
                                        size_t payload_bytes) {
  const auto index = static_cast<uint32_t>(pieces_.size());
  Piece& piece = pieces_.emplace_back();
  piece.bytes = bytes;
  if (connection->output.first_piece_ == 0) {
    connection->output.first_piece_ = index;
  } else {
    pieces_[connection->output.last_piece_].next = index;
  }
  connection->output.last_piece_ = index;
  connection->output.pass_payload_bytes_ += payload_bytes;
  SharingMarks::CountRelayed(connection, bytes);
  Touch(connection);
  return &piece;
}

void OutputPass::Send(Connection* connection, std::string_view bytes, size_t payload_bytes) {
  if (bytes.empty()) return;
  Piece* piece = AddPiece(connection, bytes.size(), payload_bytes);
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
}

void OutputPass::SendCopy(Connection* connection, std::string_view bytes) {
  const size_t count = std::min(bytes.size(), sizeof(Piece::copy));
  std::memcpy(AddPiece(connection, count, 0)->copy, bytes.data(), count);
}

void OutputPass::SendBlock(Connection* connection, uint32_t block_id, std::string_view bytes) {
  if (bytes.empty()) {
    connection->attachment().ReturnBlock(block_id, 0);
    return;
  }
  Piece* piece = AddPiece(connection, bytes.size(), bytes.size());
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
  piece->block_id = block_id;
}

void OutputPass::SendShared(Connection* connection, std::shared_ptr<const void> owner,
                            std::string_view bytes, size_t payload_bytes) {
  Piece* piece = AddPiece(connection, bytes.size(), payload_bytes);
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (owners_.back() != owner) owners_.push_back(std::move(owner));
  piece->owner = static_cast<uint32_t>(owners_.size() - 1);
}

void OutputPass::Touch(Connection* connection) {
  if (connection->output.is_touched_) return;
  connection->output.is_touched_ = true;
  touched_.push_back(connection);
}

void OutputPass::FlushTouched(std::vector<Connection*>* touched) {
  // Closing never adds to this list, so it is stable.
  for (Connection* connection : touched_) {
    connection->output.is_touched_ = false;
    if (connection->is_open()) Flush(connection);
  }
  if (streams_ != nullptr) streams_->FlushSessions();
  for (Connection* connection : touched_) {
    if (connection->stream != nullptr && connection->is_open()) KeepStreamOutput(connection);
  }
  touched->swap(touched_);
  touched_.clear();
  pieces_.resize(1);
  owners_.resize(1);
}

void OutputPass::Flush(Connection* connection) {
  if (connection->http2 != nullptr || connection->stream != nullptr) {
    streams_->OnTouched(connection);
    if (connection->stream != nullptr) return;
  }
  uint32_t piece = connection->output.first_piece_;
  if (piece != 0) {
    const size_t payload = connection->output.pass_payload_bytes_;
    connection->output.pass_payload_bytes_ = 0;
    size_t offset = 0;
    const bool was_behind = connection->output.queue_ != nullptr;
    // Output that has to keep to a limit goes through the queue, of which any part can be sent.
    const bool is_throttled = connection->is_throttled();
    if (!was_behind && !is_throttled && !SendPieces(connection, &piece, &offset)) return;
    const bool is_only = connection->output.first_piece_ == connection->output.last_piece_;
    const uint32_t last = std::exchange(connection->output.last_piece_, 0);
    connection->output.first_piece_ = 0;
    if (piece != 0) EnqueuePieces(connection, piece, offset);
    // The lane flushes each answer of its own as it makes it, and makes hundreds of thousands in
    // one turn of the loop when clients flood it: such an answer leaves no piece behind.
    if (is_only && last + 1 == pieces_.size()) pieces_.pop_back();
    if (connection->tls != nullptr && connection->tls->has_unsent()) BeginQueue(connection);
    size_t payload_left = 0;
    if (was_behind) {
      payload_left = payload;
    } else if (piece != 0) {
      // Framing counts as the first to leave: credits never run ahead of the payload.
      payload_left = std::min(payload, connection->output.queue_->bytes());
    }
    connection->output.queue_payload_bytes_ += payload_left;
    AddCredit(connection, payload - payload_left);
    if (is_throttled && !was_behind) return WriteQueue(connection);
    owner_->UpdatePoll(connection);
  }
  if (connection->output.queue_ == nullptr) owner_->OnOutputDone(connection);
}

// Returns false if an error has closed the connection. The output that was not sent begins at
// *piece and *offset.
bool OutputPass::SendPieces(Connection* connection, uint32_t* piece, size_t* offset) {
  blocks_.clear();
  while (*piece != 0) {
    size_t attempted = 0;
    const ssize_t sent = SendOnce(connection, *piece, *offset, &attempted);
    if (sent < 0) {
      const int error = errno;
      if (IsWouldBlock(error)) break;
      ReportBlocks(connection, 0);
      connection->output.first_piece_ = *piece;
      owner_->OnWriteFailed(connection, WriteError(*connection, error));
      return false;
    }
    Advance(static_cast<size_t>(sent), piece, offset);
    if (static_cast<size_t>(sent) < attempted) break;
  }
  ReportBlocks(connection, 0);
  return true;
}

ssize_t OutputPass::SendOnce(Connection* connection, uint32_t first, size_t offset,
                             size_t* attempted) {
  iovec vectors[limits::kVectorsMax];
  vectors[0] = {};
  int count = 0;
  size_t total = 0;
  uint32_t at = first;
  for (; at != 0 && count < limits::kVectorsMax; at = pieces_[at].next) {
    const std::string_view bytes = pieces_[at].view().substr(at == first ? offset : 0);
    vectors[count].iov_base = const_cast<char*>(bytes.data());
    vectors[count].iov_len = bytes.size();
    total += bytes.size();
    ++count;
  }
  *attempted = total;
  if (count > 1 && total <= limits::kGatherBytesMax) {
    if (gathered_.empty()) gathered_.resize(limits::kGatherBytesMax);
    char* to = gathered_.data();
    for (int i = 0; i < count; ++i) {
      std::memcpy(to, vectors[i].iov_base, vectors[i].iov_len);
      to += vectors[i].iov_len;
    }
    vectors[0] = {gathered_.data(), total};
    count = 1;
  }
  const bool is_end = at == 0 && connection->end.after_output() != AfterOutput::kNothing;
  return Write(connection, vectors, count, is_end);
}

void OutputPass::Advance(size_t bytes, uint32_t* piece, size_t* offset) {
  while (bytes > 0) {
    const Piece& front = pieces_[*piece];
    const size_t left = front.bytes - *offset;
    if (bytes < left) {
      *offset += bytes;
      return;
    }
    bytes -= left;
    *offset = 0;
    if (front.block_id != OutputQueue::kNoBlock) blocks_.push_back(front.block_id);
    *piece = front.next;
  }
}

// Even an empty queue says that there is something to send: the bytes that TLS has sealed.
void OutputPass::BeginQueue(Connection* connection) {
  if (connection->output.queue_ != nullptr) return;
  connection->output.queue_ = std::make_unique<OutputQueue>();
  ++pending_outputs_;
  owner_->OnQueueBegun(connection);
  owner_->UpdatePoll(connection);
}

void OutputPass::FlushSealed(Connection* connection) {
  if (!connection->is_open() || !connection->tls->has_unsent()) return;
  const int error = connection->tls->Flush();
  if (error == EAGAIN) {
    BeginQueue(connection);
  } else if (error != 0) {
    owner_->OnWriteFailed(connection, WriteError(*connection, error));
  }
}

void OutputPass::EnqueuePieces(Connection* connection, uint32_t piece, size_t offset) {
  BeginQueue(connection);
  const auto is_shared = [](const Piece& from) {
    return from.owner != 0 && from.bytes >= limits::kSharedBytesMin;
  };
  size_t copied = 0;
  for (uint32_t at = piece; at != 0; at = pieces_[at].next) {
    const Piece& from = pieces_[at];
    if (from.block_id == OutputQueue::kNoBlock && !is_shared(from)) copied += from.bytes;
  }
  for (; piece != 0; piece = pieces_[piece].next) {
    const Piece& from = pieces_[piece];
    const std::string_view bytes = from.view().substr(offset);
    offset = 0;
    if (from.block_id != OutputQueue::kNoBlock) {
      connection->output.queue_->AppendBlock(from.block_id, bytes);
    } else if (is_shared(from)) {
      connection->output.queue_->AppendShared(owners_[from.owner], bytes);
    } else {
      copied -= from.bytes;
      connection->output.queue_->Append(bytes, copied);
    }
  }
}

// -- Of streams and what carries them.

bool OutputPass::WriteNow(Connection* connection, std::string_view bytes) {
  size_t sent = 0;
  if (connection->output.queue_ == nullptr) {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t result = Write(connection, &vector, 1);
    if (result < 0 && !IsWouldBlock(errno)) {
      owner_->OnWriteFailed(connection, WriteError(*connection, errno));
      return false;
    }
    if (result > 0) sent = static_cast<size_t>(result);
  }
  const bool is_sealed = connection->tls != nullptr && connection->tls->has_unsent();
  if (sent == bytes.size() && !is_sealed) return true;
  BeginQueue(connection);
  connection->output.queue_->Append(bytes.substr(sent));
  owner_->UpdatePoll(connection);
  return true;
}

size_t OutputPass::OutputBytes(const Connection* stream) const {
  size_t bytes = stream->output.queue_ == nullptr ? 0 : stream->output.queue_->bytes();
  for (uint32_t at = stream->output.first_piece_; at != 0; at = pieces_[at].next)
    bytes += pieces_[at].bytes;
  return bytes - (stream->output.first_piece_ == 0 ? 0 : stream->stream->piece_offset);
}

void OutputPass::TakeOutput(Connection* stream, size_t bytes, std::string* to) {
  blocks_.clear();
  if (stream->output.queue_ != nullptr) {
    OutputQueue& queue = *stream->output.queue_;
    while (bytes > 0 && !queue.empty()) {
      iovec vector;
      queue.Peek(&vector, 1);
      const size_t count = std::min(bytes, vector.iov_len);
      to->append(static_cast<const char*>(vector.iov_base), count);
      queue.Remove(count, &blocks_);
      bytes -= count;
    }
    if (queue.empty()) {
      stream->output.queue_.reset();
      --pending_outputs_;
    }
  }
  size_t* offset = &stream->stream->piece_offset;
  while (bytes > 0 && stream->output.first_piece_ != 0) {
    const std::string_view view = pieces_[stream->output.first_piece_].view().substr(*offset);
    const size_t count = std::min(bytes, view.size());
    to->append(view.substr(0, count));
    Advance(count, &stream->output.first_piece_, offset);
    bytes -= count;
  }
  if (stream->output.first_piece_ == 0) stream->output.last_piece_ = 0;
  const size_t before = stream->output.queue_payload_bytes_ + stream->output.pass_payload_bytes_;
  const size_t payload = std::min(before, OutputBytes(stream));
  // Only the sum of the two counts matters, so one of them gets all.
  stream->output.queue_payload_bytes_ = payload;
  stream->output.pass_payload_bytes_ = 0;
  AddCredit(stream, before - payload);
  ReportBlocks(stream, 0);
}

// Keeps the output of a stream when the pass ends, because the memory of the pass is reused.
void OutputPass::KeepStreamOutput(Connection* stream) {
  if (stream->output.first_piece_ == 0) return;
  EnqueuePieces(stream, stream->output.first_piece_, stream->stream->piece_offset);
  stream->output.first_piece_ = stream->output.last_piece_ = 0;
  stream->stream->piece_offset = 0;
  streams_->OnBehind(stream);
}

void OutputPass::OnWritable(Connection* connection) {
  WriteQueue(connection);
  if (!connection->is_open() || (connection->watch.pauses() & kPauseOutput) == 0) return;
  if (IsBehind(*connection)) return;
  Input::ResumeSoon(connection);
  Touch(connection);
}

void OutputPass::WriteQueue(Connection* connection) {
  const auto has_sealed = [=] {
    return connection->tls != nullptr && connection->tls->has_unsent();
  };
  if (has_sealed()) {
    FlushSealed(connection);
    if (!connection->is_open() || has_sealed()) return;
  }
  OutputQueue& queue = *connection->output.queue_;
  size_t budget = limits::kSendBytesPerEvent;
  while (!queue.empty()) {
    iovec vectors[limits::kVectorsMax];
    int count = queue.Peek(vectors, limits::kVectorsMax);
    const bool is_throttled = connection->is_throttled();
    if (is_throttled) {
      const size_t most = throttle_.Take(connection, std::min(queue.bytes(), budget));
      if (most == 0) break;
      count = Shorten(vectors, count, most);
    }
    const ssize_t result = Write(connection, vectors, count);
    if (result < 0) {
      const int error = errno;
      if (!IsWouldBlock(error)) owner_->OnWriteFailed(connection, WriteError(*connection, error));
      return;
    }
    const auto sent = static_cast<size_t>(result);
    if (is_throttled) Throttle::Spend(connection, sent);
    blocks_.clear();
    queue.Remove(sent, &blocks_);
    const size_t payload = std::min(connection->output.queue_payload_bytes_, queue.bytes());
    AddCredit(connection,
              std::exchange(connection->output.queue_payload_bytes_, payload) - payload);
    ReportBlocks(connection, 0);
    if (sent >= budget) break;
    budget -= sent;
  }
  if (!queue.empty() || has_sealed()) {
    if (connection->is_throttled()) owner_->UpdatePoll(connection);
    return;
  }
  connection->output.queue_.reset();
  --pending_outputs_;
  owner_->UpdatePoll(connection);
  owner_->OnOutputDone(connection);
  if (connection->is_open() && connection->http2 != nullptr) streams_->OnOutputDone(connection);
  if (connection->input.is_resume_due()) Touch(connection);
}

void OutputPass::OnReleased(Connection* connection) {
  if (connection->stream != nullptr) {
    streams_->OnReleased(connection);
    return Touch(connection);
  }
  OnWritable(connection);
  // The rest of what may be sent waits for the socket again.
  if (connection->is_open()) owner_->UpdatePoll(connection);
}

void OutputPass::Drop(Connection* connection) {
  throttle_.End(connection);
  blocks_.clear();
  for (uint32_t at = connection->output.first_piece_; at != 0; at = pieces_[at].next) {
    if (pieces_[at].block_id != OutputQueue::kNoBlock) blocks_.push_back(pieces_[at].block_id);
  }
  connection->output.first_piece_ = connection->output.last_piece_ = 0;
  if (connection->output.queue_ != nullptr) {
    connection->output.queue_->CollectBlocks(&blocks_);
    connection->output.queue_.reset();
    --pending_outputs_;
    ++dropped_outputs_;
    TrimSoonAfterMany();
  }
  ReportBlocks(connection, ECANCELED);
}

// The trim comes when the connections have been freed, and once for all of a flood. Drops while the
// timer runs do not postpone it: many of them are followed by a trim of their own.
void OutputPass::TrimSoonAfterMany() {
  if (dropped_outputs_ < limits::kTrimAfterDrops) return;
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&trim_timer_)) != 0) return;
  dropped_outputs_ = 0;
  const auto trim = [](uv_timer_t* timer) {
    TrimHeap();
    static_cast<OutputPass*>(timer->data)->TrimSoonAfterMany();
  };
  uv_timer_start(&trim_timer_, trim, limits::kUnusedMs, 0);
}

// A stream may have so little credit that JavaScript waits until all of it has left.
bool OutputPass::IsCreditDue(const Connection& connection) {
  if (connection.output.credit_bytes_ >= limits::kCreditBytes) return true;
  const bool is_all =
      connection.output.queue_payload_bytes_ == 0 && connection.output.pass_payload_bytes_ == 0;
  if (connection.output.credit_bytes_ < limits::kStreamCreditBytes || !is_all) return false;
  // At the end of a response nobody waits for credit.
  if (connection.stream != nullptr) return !connection.stream->is_complete;
  return connection.origin() != nullptr && connection.origin()->is_stream;
}

void OutputPass::AddCredit(Connection* connection, size_t bytes) {
  connection->output.credit_bytes_ += bytes;
  if (!IsCreditDue(*connection) || !connection->is_open()) return;
  // A block may be longer than a word counts.
  const size_t credit = std::min(connection->output.credit_bytes_, size_t{UINT32_MAX});
  connection->attachment().records().Credit(connection->slot.number(),
                                            static_cast<uint32_t>(credit));
  connection->output.credit_bytes_ -= credit;
}

void OutputPass::ReportBlocks(const Connection* connection, int error) {
  for (const uint32_t id : blocks_) connection->attachment().ReturnBlock(id, error);
}

}  // namespace httpsys::engine
