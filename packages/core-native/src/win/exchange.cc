#include "win/exchange.h"

#include <algorithm>

#include "base/limits.h"

namespace httpsys::win {
namespace {

// Longest head that an application may write; Node's are far shorter.
constexpr size_t kHeadBytesMax = 1024 * 1024;
// Pieces are combined up to this size: each chunk costs a structure and a look-up in the kernel.
constexpr size_t kGatherBytesMax = limits::kGatherBytesMax;
// Maximum number of chunks for one call.
constexpr size_t kChunksMax = 64;

constexpr std::string_view kFailure =
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

}  // namespace

Exchange::Exchange(std::shared_ptr<KernelQueue> queue, HTTP_REQUEST_ID id, bool is_core_only)
    : queue_(std::move(queue)), id_(id), is_core_only_(is_core_only) {}

Exchange* Exchange::Of(Operation* operation) { return static_cast<Call*>(operation)->exchange; }

// -- The response.

void Exchange::Write(std::string_view bytes, size_t payload_bytes) {
  if (is_ended_ || is_malformed_) return;
  if (is_stream) return WriteText(bytes, payload_bytes);
  if (has_head_) return Append(bytes, payload_bytes);
  head_text_.append(bytes);
  ReadHeads();
}

// Reads heads, but sends no interim ones: HTTP.SYS itself sends `100 Continue` for a body.
void Exchange::ReadHeads() {
  while (!has_head_) {
    const size_t bytes = http1::ResponseHeadBytes(head_text_);
    if (bytes == 0) {
      is_malformed_ = head_text_.size() > kHeadBytesMax;
      return;
    }
    if (!TakeHead(head_text_.substr(0, bytes))) return;
    head_text_.erase(0, bytes);
  }
  const std::string rest = std::exchange(head_text_, {});
  if (!rest.empty()) Append(rest, rest.size());
}

bool Exchange::TakeHead(std::string text) {
  is_malformed_ = !head_.Read(std::move(text));
  if (is_malformed_) return false;
  has_head_ = !head_.is_interim();
  if (head_.status() == 100) awaits_continue = false;
  return true;
}

// Removes the HTTP/1.1 framing that the application has written, because the kernel frames the
// output for clients of HTTP/2 and 3.
void Exchange::WriteText(std::string_view bytes, size_t payload_bytes) {
  using Kind = http2::ResponseText::Kind;
  uncredited_ += payload_bytes;
  while (!bytes.empty() && !is_malformed_) {
    const http2::ResponseText::Step step = text_.Next(bytes);
    bytes.remove_prefix(step.used);
    if (step.kind == Kind::kHead) BeginBody(step.bytes);
    if (step.kind == Kind::kBody) Append(step.bytes, std::exchange(uncredited_, 0));
    if (step.kind == Kind::kTrailers) TakeTrailers(step.bytes);
    if (step.kind == Kind::kFailed) is_malformed_ = true;
  }
}

void Exchange::BeginBody(std::string_view head_text) {
  if (!TakeHead(std::string(head_text))) return;
  // The bytes of the head are credited when it is sent.
  uncredited_ -= std::min(uncredited_, head_text.size());
  http2::ResponseHead head;
  is_malformed_ = !http2::ParseResponseHead(head_text, &head);
  if (!has_head_) {
    text_.BeginHead();
  } else if (is_head_request || head.status == 204 || head.status == 304) {
    text_.BeginNothing();
  } else if (head.is_chunked) {
    text_.BeginChunks();
  } else if (head.has_length) {
    text_.BeginLength(head.content_length);
  } else {
    text_.BeginUntilEnd();
  }
}

void Exchange::TakeTrailers(std::string_view text) {
  if (text.starts_with("\r\n") || !SupportsResponseTrailers()) return;
  auto trailers = std::make_unique<ResponseTrailers>();
  if (trailers->Read(text)) trailers_ = std::move(trailers);
}

void Exchange::Append(std::string_view bytes, size_t payload_bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || pieces_.back().has_block() ||
      pieces_.back().bytes + bytes.size() > kGatherBytesMax) {
    pieces_.emplace_back();
  }
  Piece& piece = pieces_.back();
  piece.copy.append(bytes);
  piece.bytes += bytes.size();
  piece.payload_bytes += payload_bytes;
}

void Exchange::WriteBlock(uint32_t block_id, std::span<const uint8_t> memory) {
  Piece piece;
  piece.block = memory.data();
  piece.block_id = block_id;
  piece.bytes = piece.payload_bytes = memory.size();
  AppendBlock(std::move(piece));
}

void Exchange::WriteFile(uint32_t block_id, std::unique_ptr<SentFile> file) {
  Piece piece;
  piece.block_id = block_id;
  piece.bytes = static_cast<size_t>(file->bytes());
  piece.file = std::move(file);
  AppendBlock(std::move(piece));
}

void Exchange::AppendBlock(Piece piece) {
  const size_t bytes = piece.bytes;
  pieces_.push_back(std::move(piece));
  // A block before the head is an error: applications write heads as text.
  if (!has_head_) is_malformed_ = true;
  if (!is_stream || is_malformed_) return;
  if (text_.is_done()) {
    // Drop a piece after the end of the response, for example the body of an answer to HEAD.
    pieces_.back().bytes = 0;
  } else if (text_.IsNextBody(bytes)) {
    text_.SkipBody(bytes);
  } else {
    is_malformed_ = true;
  }
}

void Exchange::End(bool closes) {
  if (is_ended_) return;
  is_ended_ = true;
  closes_ = closes;
}

bool Exchange::CanSend() const {
  if (is_sending_ || !has_head_ || is_malformed_ || is_aborted_) return false;
  // Wine cannot close a connection. Wait until the answer to a refused request is complete: only
  // then it is sent with a length, by which the client finds its end.
  if (is_core_only_ && is_refused && !is_ended_ && pieces_.empty()) return false;
  return !is_head_sent_ || !pieces_.empty() || (is_ended_ && !is_end_told_);
}

CallResult Exchange::Send() {
  const bool is_opaque_head = !is_head_sent_ && is_opaque();
  const size_t count = is_opaque_head ? 0 : std::min(pieces_.size(), kChunksMax);
  const auto last = pieces_.begin() + static_cast<std::ptrdiff_t>(count);
  sending_.assign(std::make_move_iterator(pieces_.begin()), std::make_move_iterator(last));
  pieces_.erase(pieces_.begin(), last);
  FillChunks();
  ULONG flags = 0;
  // If the first call has the complete response, the kernel adds a Content-Length. A chunked
  // response must not have one, so another call ends it.
  const bool is_whole = is_head_sent_ || is_stream || !(head_.is_framed() || is_opaque_head);
  is_end_told_ = is_ended_ && pieces_.empty() && is_whole;
  if (is_end_told_ && trailers_ != nullptr) chunks_.push_back(trailers_->chunk());
  if (!is_end_told_) {
    flags |= HTTP_SEND_RESPONSE_FLAG_MORE_DATA;
  } else if (closes_ && !is_stream) {
    flags |= HTTP_SEND_RESPONSE_FLAG_DISCONNECT;
  }
  if (is_buffered && !is_opaque()) flags |= HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA;
  if (is_opaque_head) flags = OpaqueChannel::kHeadFlags;
  is_sending_ = true;
  HTTP_LOG_DATA* log_data = LogData(flags);
  if (is_head_sent_) return queue_->SendBody(id_, flags, chunks_, log_data, &send_call_);
  is_head_sent_ = true;
  sent_head_bytes_ = head_.bytes();
  return queue_->SendHead(id_, flags, head_.Fill(&chunks_, is_stream), cache_policy.get(), log_data,
                          &send_call_);
}

// Returns the log entry for the last call of a response, when the kernel logs it; else nullptr.
HTTP_LOG_DATA* Exchange::LogData(ULONG flags) {
  if (log == nullptr || (flags & HTTP_SEND_RESPONSE_FLAG_MORE_DATA) != 0) return nullptr;
  return log->With(head_.status());
}

void Exchange::FillChunks() {
  chunks_.clear();
  for (const Piece& piece : sending_) {
    if (piece.file != nullptr && piece.bytes != 0) {
      chunks_.push_back(piece.file->chunk());
      continue;
    }
    HTTP_DATA_CHUNK chunk{};
    chunk.DataChunkType = HttpDataChunkFromMemory;
    const void* memory = piece.block != nullptr ? static_cast<const void*>(piece.block)
                                                : static_cast<const void*>(piece.copy.data());
    chunk.FromMemory.pBuffer = const_cast<void*>(memory);
    chunk.FromMemory.BufferLength = static_cast<ULONG>(piece.bytes);
    chunks_.push_back(chunk);
  }
}

std::vector<Exchange::Piece> Exchange::TakeSent() {
  is_sending_ = false;
  is_done_ = is_end_told_;
  return std::exchange(sending_, {});
}

bool Exchange::HasFile() const {
  const auto is_file = [](const Piece& piece) { return piece.file != nullptr; };
  return std::any_of(pieces_.begin(), pieces_.end(), is_file) ||
         std::any_of(sending_.begin(), sending_.end(), is_file);
}

size_t Exchange::TakeSentHeadBytes() { return std::exchange(sent_head_bytes_, 0); }

// -- The request's body.

CallResult Exchange::Receive(size_t bytes_max) {
  buffer_.resize(std::min(bytes_max, limits::kBlockBytes));
  is_receiving_ = true;
  return queue_->ReceiveBody(id_, buffer_, &receive_call_);
}

std::string_view Exchange::OnReceived(size_t bytes) {
  is_receiving_ = false;
  return {buffer_.data(), std::min(bytes, buffer_.size())};
}

std::vector<Exchange::Piece> Exchange::Abort() {
  is_ended_ = closes_ = true;
  if (is_core_only_) {
    if (!is_head_sent_) has_head_ = head_.Read(std::string(kFailure));
    is_malformed_ = false;
  } else if (!is_aborted_) {
    queue_->Cancel(id_);
    is_aborted_ = true;
  }
  return std::exchange(pieces_, {});
}

}  // namespace httpsys::win
