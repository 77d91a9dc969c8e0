#include "engine/connection/output_pass.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptors.h"
#include "engine/connection/connected_socket.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/input.h"

namespace httpsys::engine {
namespace {

// Returns the error to report for a failed write; 0 = the client has ended the connection. EPIPE
// means that the client's end came before its reset. If the lane has not read that end yet, report
// the end. On Node, libuv reads before it writes and reports the same.
int WriteError(const Connection& connection, int error) {
  return error == EPIPE && !connection.end.peer_ended() ? 0 : error;
}

// Returns true if this error of sendfile(2) or read(2) is about the file, not the socket.
bool IsFileError(int error) {
  return error == EIO || error == ESTALE || error == EISDIR || error == EINVAL || error == ENOMEM;
}

// Shortens the vectors to `bytes` in sum. Returns how many vectors are left.
int Shorten(iovec* vectors, int count, size_t bytes) {
  for (int i = 0; i < count; ++i) {
    vectors[i].iov_len = std::min(vectors[i].iov_len, bytes);
    bytes -= vectors[i].iov_len;
    if (bytes == 0) return i + 1;
  }
  return count;
}

// Returns true if bytes can be written to the socket as they are: the connection has no other
// output, no TLS, no limit, and does not end after them.
bool IsIdle(const Connection& connection) {
  return connection.output.is_empty() && connection.tls == nullptr && connection.http2 == nullptr &&
         connection.stream == nullptr && connection.origin() == nullptr &&
         !connection.is_throttled() && connection.end.after_output() == AfterOutput::kNothing;
}

// Returns true if the sent payload must be reported to JavaScript. A stream may have so little
// credit that JavaScript waits until all of it is sent.
bool IsCreditDue(const Connection& connection, size_t credit_bytes, bool is_all_sent) {
  if (credit_bytes >= limits::kCreditBytes) return true;
  if (credit_bytes < limits::kStreamCreditBytes || !is_all_sent) return false;
  // At the end of a response JavaScript does not wait for credit.
  if (connection.stream != nullptr) return !connection.stream->is_complete;
  return connection.origin() != nullptr && connection.origin()->is_stream;
}

}  // namespace

OutputPass::OutputPass(uv_loop_t* loop, OutputOwner* owner, files::ReadAhead* ahead,
                       FileOutput::Post post)
    : loop_(loop),
      owner_(owner),
      throttle_(loop, [this](Connection* connection) { OnReleased(connection); }),
      files_(loop, ahead, std::move(post),
             [this](Connection* connection) { OnReleased(connection); }),
      trim_(loop) {}

void OutputPass::Close() {
  throttle_.Close();
  trim_.Close();
}

PassPieces::Piece* OutputPass::AddPiece(Connection* connection, size_t bytes,
                                        size_t payload_bytes) {
  const uint32_t piece = pieces_.Add(connection->output.last_piece_, bytes);
  if (connection->output.first_piece_ == 0) connection->output.first_piece_ = piece;
  connection->output.last_piece_ = piece;
  connection->output.pass_payload_bytes_ += payload_bytes;
  connection->CountRelayed(bytes);
  Touch(connection);
  return &pieces_.at(piece);
}

void OutputPass::Send(Connection* connection, std::string_view bytes, size_t payload_bytes,
                      Lender* lender) {
  if (bytes.empty()) return;
  PassPieces::Piece* piece = AddPiece(connection, bytes.size(), payload_bytes);
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (lender != nullptr) pieces_.SetLender(lender);
}

void OutputPass::SendCopy(Connection* connection, std::string_view bytes) {
  const size_t count = std::min(bytes.size(), sizeof(PassPieces::Piece::copy));
  std::memcpy(AddPiece(connection, count, 0)->copy, bytes.data(), count);
}

void OutputPass::SendBlock(Connection* connection, uint32_t block_id, std::string_view bytes) {
  if (bytes.empty()) {
    connection->attachment().ReturnBlock(block_id, 0);
    return;
  }
  PassPieces::Piece* piece = AddPiece(connection, bytes.size(), bytes.size());
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
  piece->block_id = block_id;
}

void OutputPass::SendFile(Connection* connection, uint32_t block_id,
                          std::shared_ptr<const files::FilePart> part) {
  // Read the file at once only if no other file is before it, because blocks are returned in order.
  const OutputState& output = connection->output;
  if (output.queue_ == nullptr && !output.has_file_) {
    if (std::shared_ptr<const char[]> bytes = FileOutput::ReadShort(*part); bytes != nullptr) {
      const std::string_view view(bytes.get(), static_cast<size_t>(part->bytes));
      SendShared(connection, std::move(bytes), view, 0);
      if (block_id != OutputQueue::kNoBlock) connection->attachment().ReturnBlock(block_id, 0);
      return;
    }
  }
  AddPiece(connection, part->bytes, 0)->block_id = block_id;
  pieces_.SetOwner(std::move(part));
  connection->output.has_file_ = true;
}

void OutputPass::SendShared(Connection* connection, std::shared_ptr<const void> owner,
                            std::string_view bytes, size_t payload_bytes) {
  PassPieces::Piece* piece = AddPiece(connection, bytes.size(), payload_bytes);
  piece->data = reinterpret_cast<const uint8_t*>(bytes.data());
  pieces_.SetOwner(std::move(owner));
}

void OutputPass::Touch(Connection* connection) {
  if (connection->output.is_touched_) return;
  connection->output.is_touched_ = true;
  touched_.push_back(connection);
}

void OutputPass::FlushTouched(std::vector<Connection*>* touched) {
  // By index: a connection that is touched during the loop is flushed, too.
  for (size_t i = 0; i < touched_.size(); ++i) {
    Connection* const connection = touched_[i];
    connection->output.is_touched_ = false;
    if (connection->is_open()) Flush(connection);
  }
  if (streams_ != nullptr) streams_->FlushSessions();
  for (Connection* connection : touched_) {
    if (connection->stream != nullptr && connection->is_open()) KeepStreamOutput(connection);
  }
  touched->swap(touched_);
  touched_.clear();
  pieces_.Clear();
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
    // Files, and output with a bandwidth limit, go through the queue, because any part of it can be
    // sent.
    const bool is_queued = connection->output.has_file_ || connection->is_throttled();
    if (!was_behind && !is_queued && !SendPieces(connection, &piece, &offset)) return;
    if (is_queued) MakeQueue(connection);
    const uint32_t first = std::exchange(connection->output.first_piece_, 0);
    connection->output.last_piece_ = 0;
    if (piece != 0) EnqueuePieces(connection, piece, offset);
    // Native answers are flushed one by one, and a flood causes hundreds of thousands in one turn
    // of the loop. So the pieces of each answer, and the bytes of its file, are released at once.
    pieces_.Release(first);
    if (connection->tls != nullptr && connection->tls->has_unsent()) BeginQueue(connection);
    size_t payload_left = 0;
    if (was_behind) {
      payload_left = payload;
    } else if (piece != 0) {
      // Count all unsent bytes as payload, so that credits never run ahead of the payload.
      payload_left = std::min(payload, connection->output.queue_->bytes());
    }
    connection->output.queue_payload_bytes_ += payload_left;
    AddCredit(connection, payload - payload_left);
    if (is_queued && !was_behind) return WriteQueue(connection);
    owner_->UpdatePoll(connection);
  }
  if (connection->output.queue_ == nullptr) owner_->OnOutputDone(connection);
}

void OutputPass::SendNow(Connection* connection, std::string_view bytes) {
  if (!bytes.empty() && IsIdle(*connection)) {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t sent = WriteVectors(connection, &vector, 1);
    if (sent > 0) ConnectionTimers::SetActive(connection, uv_now(loop_));
    if (sent == static_cast<ssize_t>(bytes.size())) {
      owner_->UpdatePoll(connection);
      owner_->OnOutputDone(connection);
      if (connection->input.is_resume_due()) Touch(connection);
      return;
    }
    if (sent < 0 && !IsWouldBlock(errno)) {
      return owner_->OnWriteFailed(connection, WriteError(*connection, errno));
    }
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  Send(connection, bytes, 0);
  Flush(connection);
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
    if (sent > 0) ConnectionTimers::SetActive(connection, uv_now(loop_));
    pieces_.Advance(static_cast<size_t>(sent), piece, offset, &blocks_);
    if (static_cast<size_t>(sent) < attempted) break;
  }
  ReportBlocks(connection, 0);
  return true;
}

ssize_t OutputPass::SendOnce(Connection* connection, uint32_t first, size_t offset,
                             size_t* attempted) {
  iovec vectors[limits::kVectorsMax];
  vectors[0] = {};
  uint32_t next = 0;
  int count = pieces_.Fill(first, offset, vectors, limits::kVectorsMax, &next);
  size_t total = 0;
  for (int i = 0; i < count; ++i) total += vectors[i].iov_len;
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
  const bool is_end = next == 0 && connection->end.after_output() != AfterOutput::kNothing;
  return WriteVectors(connection, vectors, count, is_end ? AfterWrite::kEnd : AfterWrite::kUnknown);
}

void OutputPass::MakeQueue(Connection* connection) {
  if (connection->output.queue_ != nullptr) return;
  connection->output.queue_ = std::make_unique<OutputQueue>();
  ++pending_outputs_;
  owner_->OnQueueBegun(connection);
}

// The queue may stay empty: its existence says that sealed bytes of TLS are still unsent.
void OutputPass::BeginQueue(Connection* connection) {
  if (connection->output.queue_ != nullptr) return;
  MakeQueue(connection);
  owner_->UpdatePoll(connection);
}

void OutputPass::FlushSealed(Connection* connection) {
  if (!connection->is_open() || !connection->tls->has_unsent()) return;
  const size_t before = connection->tls->unsent_bytes();
  const int error = connection->tls->Flush();
  if (connection->tls->unsent_bytes() < before)
    ConnectionTimers::SetActive(connection, uv_now(loop_));
  if (error == EAGAIN) {
    BeginQueue(connection);
  } else if (error != 0) {
    owner_->OnWriteFailed(connection, WriteError(*connection, error));
  }
}

void OutputPass::EnqueuePieces(Connection* connection, uint32_t piece, size_t offset) {
  BeginQueue(connection);
  pieces_.MoveTo(connection->output.queue_.get(), piece, offset);
  connection->output.has_file_ = false;
}

// -- Output of streams, and of the connections that carry them.

bool OutputPass::WriteNow(Connection* connection, std::string_view bytes) {
  size_t sent = 0;
  if (connection->output.queue_ == nullptr) {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t result = WriteVectors(connection, &vector, 1);
    if (result < 0 && !IsWouldBlock(errno)) {
      owner_->OnWriteFailed(connection, WriteError(*connection, errno));
      return false;
    }
    if (result > 0) {
      ConnectionTimers::SetActive(connection, uv_now(loop_));
      sent = static_cast<size_t>(result);
    }
  }
  const bool is_sealed = connection->tls != nullptr && connection->tls->has_unsent();
  if (sent == bytes.size() && !is_sealed) return true;
  BeginQueue(connection);
  connection->output.queue_->Append(bytes.substr(sent));
  owner_->UpdatePoll(connection);
  return true;
}

size_t OutputPass::OutputBytes(const Connection* stream) const {
  const size_t queued = stream->output.queue_ == nullptr ? 0 : stream->output.queue_->bytes();
  return queued + pieces_.BytesFrom(stream->output.first_piece_, stream->stream->piece_offset);
}

ssize_t OutputPass::ReadyBytes(Connection* stream, size_t want) {
  // A stream sends files, and the output behind them, from its queue only.
  if (stream->output.has_file_) QueueStreamOutput(stream);
  const OutputQueue* queue = stream->output.queue();
  if (queue == nullptr || !queue->has_files()) return static_cast<ssize_t>(want);
  const OutputQueue::FilePiece piece = queue->file_at(0);
  if (piece.part == nullptr) {
    return static_cast<ssize_t>(std::min(want, queue->BytesBeforeFile()));
  }
  const size_t most = std::min<uint64_t>(want, piece.bytes);
  const ssize_t ready = files_.Ready(stream, *piece.part, piece.offset, most);
  if (ready < 0) ReturnFile(stream, static_cast<int>(-ready));
  return ready;
}

bool OutputPass::TakeFromFile(Connection* stream, size_t bytes, std::string* to) {
  OutputQueue& queue = *stream->output.queue_;
  const OutputQueue::FilePiece piece = queue.file_at(0);
  const size_t at = to->size();
  to->resize(at + bytes);
  const ssize_t got = FileOutput::Read(*stream, *piece.part, piece.offset, to->data() + at, bytes);
  if (got != static_cast<ssize_t>(bytes)) {
    to->resize(at);
    ReturnFile(stream, got < 0 ? errno : ENODATA);
    return false;
  }
  queue.Remove(bytes, &blocks_);
  if (bytes == piece.bytes) {
    files_.Forget(stream);
  } else {
    files_.OnFull(stream);
  }
  return true;
}

// Drops the rest of the file at the front of the queue, and returns its block.
void OutputPass::ReturnFile(Connection* connection, int error) {
  uint64_t sent = 0;
  const uint32_t block_id = connection->output.queue_->DropFront(&sent);
  files_.Forget(connection);
  if (block_id == OutputQueue::kNoBlock) return;
  connection->attachment().ReturnBlock(block_id, error, sent);
}

bool OutputPass::TakeOutput(Connection* stream, size_t bytes, std::string* to) {
  ConnectionTimers::SetActive(stream, uv_now(loop_));
  blocks_.clear();
  if (stream->output.queue_ != nullptr) {
    OutputQueue& queue = *stream->output.queue_;
    if (queue.file_at(0).part != nullptr) {
      if (!TakeFromFile(stream, bytes, to)) return false;
      bytes = 0;
    }
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
    const std::string_view view = pieces_.at(stream->output.first_piece_).view().substr(*offset);
    const size_t count = std::min(bytes, view.size());
    to->append(view.substr(0, count));
    pieces_.Advance(count, &stream->output.first_piece_, offset, &blocks_);
    bytes -= count;
  }
  if (stream->output.first_piece_ == 0) stream->output.last_piece_ = 0;
  const size_t before = stream->output.queue_payload_bytes_ + stream->output.pass_payload_bytes_;
  const size_t payload = std::min(before, OutputBytes(stream));
  // Only the sum of the two counts matters, so the first one gets all.
  stream->output.queue_payload_bytes_ = payload;
  stream->output.pass_payload_bytes_ = 0;
  AddCredit(stream, before - payload);
  ReportBlocks(stream, 0);
  return true;
}

void OutputPass::QueueStreamOutput(Connection* stream) {
  EnqueuePieces(stream, stream->output.first_piece_, stream->stream->piece_offset);
  stream->output.first_piece_ = stream->output.last_piece_ = 0;
  stream->stream->piece_offset = 0;
}

// Keeps the output of a stream when the pass ends, because the memory of the pass is reused.
void OutputPass::KeepStreamOutput(Connection* stream) {
  if (stream->output.first_piece_ != 0) QueueStreamOutput(stream);
  if (stream->output.queue_ != nullptr) streams_->OnBehind(stream);
}

void OutputPass::OnWritable(Connection* connection) {
  WriteQueue(connection);
  if (!connection->is_open()) return;
  const bool is_paused = (connection->watch.pauses() & kPauseOutput) != 0;
  if (is_paused && !IsBehind(*connection)) connection->input.ResumeSoon();
  if (connection->input.is_resume_due()) Touch(connection);
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
    // A file is sent in whole windows, so the last one may exceed the budget.
    size_t most = std::max(budget, limits::kFileWindowBytes);
    const bool is_throttled = connection->is_throttled();
    if (is_throttled) {
      most = throttle_.Take(connection, std::min(queue.bytes(), budget));
      if (most == 0) {
        files_.OnFull(connection);
        break;
      }
    }
    const ssize_t result = WriteSome(connection, most);
    if (result == 0) break;
    if (result < 0) {
      const int error = errno;
      if (!connection->is_open()) return;
      if (!IsWouldBlock(error)) {
        return owner_->OnWriteFailed(connection, WriteError(*connection, error));
      }
      files_.OnFull(connection);
      break;
    }
    ConnectionTimers::SetActive(connection, uv_now(loop_));
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
  if (!queue.empty() || has_sealed()) return owner_->UpdatePoll(connection);
  connection->output.queue_.reset();
  --pending_outputs_;
  owner_->UpdatePoll(connection);
  owner_->OnOutputDone(connection);
  if (connection->is_open() && connection->http2 != nullptr) streams_->OnOutputDone(connection);
}

// Writes at most `most` bytes from the front of the queue. Returns like send(2); 0 = the output is
// held. The connection may be closed after a failure.
ssize_t OutputPass::WriteSome(Connection* connection, size_t most) {
  const OutputQueue& queue = *connection->output.queue_;
  if (const OutputQueue::FilePiece file = queue.file_at(0); file.part != nullptr) {
    return WriteFile(connection, file, most);
  }
  iovec vectors[limits::kVectorsMax];
  const int count = queue.Peek(vectors, limits::kVectorsMax);
  if (connection->is_throttled()) {
    return WriteVectors(connection, vectors, Shorten(vectors, count, most));
  }
  const OutputQueue::FilePiece next = queue.file_at(static_cast<size_t>(count));
  // Do not keep these bytes back (kMore) for a file that must first be read from disk.
  const bool has_more =
      next.part != nullptr &&
      files_.Ready(connection, *next.part, next.offset, std::min<uint64_t>(most, next.bytes)) > 0;
  return WriteVectors(connection, vectors, count,
                      has_more ? AfterWrite::kMore : AfterWrite::kUnknown);
}

ssize_t OutputPass::WriteFile(Connection* connection, const OutputQueue::FilePiece& piece,
                              size_t most) {
  const ssize_t ready =
      files_.Ready(connection, *piece.part, piece.offset, std::min<uint64_t>(most, piece.bytes));
  if (ready == 0) return 0;
  ssize_t sent = -1;
  int error = static_cast<int>(-ready);
  if (ready > 0) {
    sent = files_.Send(connection, *piece.part, piece.offset, static_cast<size_t>(ready));
    if (sent == static_cast<ssize_t>(piece.bytes)) files_.Forget(connection);
    if (sent > 0) return sent;
    error = sent == 0 ? ENODATA : errno;
    if (sent < 0 && !IsFileError(error)) return -1;
  }
  // The file is shorter than announced or cannot be read, so the response cannot be completed.
  ReturnFile(connection, error);
  owner_->OnWriteFailed(connection, 0);
  return -1;
}

void OutputPass::OnReleased(Connection* connection) {
  if (connection->stream != nullptr) {
    streams_->OnReleased(connection);
    return Touch(connection);
  }
  OnWritable(connection);
  // Poll again, because the rest of the allowed output may wait for the socket.
  if (connection->is_open()) owner_->UpdatePoll(connection);
}

void OutputPass::Drop(Connection* connection) {
  throttle_.End(connection);
  files_.Forget(connection);
  connection->output.has_file_ = false;
  blocks_.clear();
  pieces_.CollectBlocks(connection->output.first_piece_, &blocks_);
  connection->output.first_piece_ = connection->output.last_piece_ = 0;
  if (connection->output.queue_ != nullptr) {
    if (connection->output.queue_->file_at(0).part != nullptr) ReturnFile(connection, ECANCELED);
    connection->output.queue_->CollectBlocks(&blocks_);
    connection->output.queue_.reset();
    --pending_outputs_;
    trim_.OnDropped();
  }
  ReportBlocks(connection, ECANCELED);
}

void OutputPass::AddCredit(Connection* connection, size_t bytes) {
  OutputState& output = connection->output;
  uint64_t credit = uint64_t{output.credit_bytes_} + bytes;
  const bool is_all_sent = output.queue_payload_bytes_ == 0 && output.pass_payload_bytes_ == 0;
  const bool is_due = IsCreditDue(*connection, credit, is_all_sent) && connection->is_open();
  // Credit that is not reported yet fits 32 bits: it is below limits::kCreditBytes, except on a
  // closed connection, which reports none.
  output.credit_bytes_ = is_due ? 0 : static_cast<uint32_t>(std::min<uint64_t>(credit, UINT32_MAX));
  if (!is_due) return;
  // The client's socket has taken everything. The output of a stream may still be queued at its
  // connection, so both queues must be empty.
  const bool is_taken =
      connection->output.queue_ == nullptr && connection->real()->output.queue_ == nullptr;
  const uint32_t flags = is_taken ? uint32_t{records::kFlagTaken} : 0;
  // The credit may exceed a record's 32-bit word if a block is long: report it in several records.
  for (; credit > UINT32_MAX; credit -= UINT32_MAX) {
    connection->attachment().records().Credit(connection->slot.number(), UINT32_MAX, flags);
  }
  connection->attachment().records().Credit(connection->slot.number(),
                                            static_cast<uint32_t>(credit), flags);
}

void OutputPass::ReportBlocks(const Connection* connection, int error) {
  for (const uint32_t id : blocks_) connection->attachment().ReturnBlock(id, error);
}

}  // namespace httpsys::engine
