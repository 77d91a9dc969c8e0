// What is sent of HTTP/2: output of streams becomes frames, as fast as the socket takes them.

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/http2/http2_session.h"

namespace httpsys::engine {

using http2::kFrameHeaderBytes;
using http2::kNgDeferred;
using http2::kNgStreamFailure;
using http2::kNgWouldBlock;
using http2::kReadEof;
using http2::kReadNoCopy;
using http2::kReadNoEndStream;
using http2::NgSource;
using http2::ParseTrailers;

// From outside of a flush.
void Http2Session::MarkDirty(Http2State* state) { transport_->Touch(state->connection); }

void Http2Session::AddDirty(Http2State* state) {
  if (state == nullptr || std::exchange(state->is_dirty, true)) return;
  dirty_.push_back(state);
}

void Http2Session::OnTouched(Connection* connection) {
  if (connection->stream == nullptr) return AddDirty(connection->http2.get());
  Resume(connection);
  AddDirty(connection->stream->state);
}

void Http2Session::FlushNow(Connection* stream) {
  Http2State* state = stream->stream->state;
  if (state == nullptr) return;
  Resume(stream);
  if (!is_receiving_) Flush(state);
}

void Http2Session::FlushSessions() {
  // One may close another's streams, no other session.
  for (size_t i = 0; i < dirty_.size(); ++i) {
    Http2State* state = dirty_[i];
    if (state == nullptr) continue;
    state->is_dirty = false;
    if (state->connection->is_open()) Flush(state);
  }
  dirty_.clear();
}

// Makes frames as long as the socket takes them.
void Http2Session::Flush(Http2State* state) {
  Connection* connection = state->connection;
  state->is_behind = connection->queue != nullptr;
  bool is_done = false;
  wire_bytes_ = limits::kHttp2WireBytes;
  while (!is_done && !state->is_behind) {
    is_done = MakeFrames(state);
    // All but bodies is made first.
    if (state->abandoned_bytes != 0 && api_->session_get_outbound_queue_size(state->session) == 0) {
      state->abandoned_bytes = 0;
    }
    if (!wire_.empty() && !transport_->WriteNow(connection, wire_)) return;
    if (!is_done) state->is_behind = connection->queue != nullptr;
    wire_bytes_ = std::min(2 * wire_bytes_, limits::kHttp2WireBytesMax);
  }
  if (wire_.capacity() > 2 * limits::kHttp2WireBytesMax) wire_.shrink_to_fit();
  if (!state->is_behind) CloseIfOver(state);
}

// True when there are no more.
bool Http2Session::MakeFrames(Http2State* state) {
  wire_.clear();
  is_wire_full_ = false;
  while (wire_.size() < 2 * wire_bytes_) {
    const uint8_t* data = nullptr;
    const ssize_t made = api_->session_mem_send(state->session, &data);
    if (made < 0) state->is_over = true;
    if (made <= 0) return !is_wire_full_;
    wire_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(made));
  }
  return false;
}

void Http2Session::CloseIfOver(Http2State* state) {
  const bool is_over = state->is_over || (api_->session_want_read(state->session) == 0 &&
                                          api_->session_want_write(state->session) == 0);
  if (is_over) transport_->FinishNow(state->connection);
}

void Http2Session::OnOutputDone(Connection* connection) {
  Http2State* state = connection->http2.get();
  if (state->is_behind) MarkDirty(state);
}

ssize_t Http2Session::ReadOutput(Ng* session, int32_t stream_id, uint8_t*, size_t bytes,
                                 uint32_t* flags, NgSource*, void* user) {
  Connection* connection = StreamOf(session, stream_id);
  if (connection == nullptr) return kNgStreamFailure;
  Http2Session* self = static_cast<Http2State*>(user)->owner;
  Http2Stream* stream = connection->stream.get();
  const size_t there = self->transport_->OutputBytes(connection);
  if (there == 0 && !stream->is_complete) {
    stream->is_deferred = true;
    return kNgDeferred;
  }
  // With TLS each frame fills a record, and those of a pass the records of one call of the kernel.
  constexpr size_t kFramed = limits::kTlsRecordBytes - kFrameHeaderBytes;
  const bool is_sealed = static_cast<Http2State*>(user)->connection->tls != nullptr;
  const size_t count = std::min({there, bytes, is_sealed ? kFramed : bytes});
  if (count != 0) *flags |= kReadNoCopy;
  if (count < there || !stream->is_complete) return static_cast<ssize_t>(count);
  *flags |= kReadEof;
  if (!stream->trailers.empty() && ParseTrailers(stream->trailers, &self->trailers_)) {
    self->response_fields_.FillTrailers(self->trailers_);
    if (self->response_fields_.size() != 0) {
      *flags |= kReadNoEndStream;
      self->api_->submit_trailer(session, stream_id, self->response_fields_.data(),
                                 self->response_fields_.size());
    }
  }
  return static_cast<ssize_t>(count);
}

int Http2Session::SendData(Ng* session, Frame* frame, const uint8_t* frame_header, size_t bytes,
                           NgSource*, void* user) {
  Http2Session* self = static_cast<Http2State*>(user)->owner;
  if (self->wire_.size() >= self->wire_bytes_) {
    self->is_wire_full_ = true;
    return kNgWouldBlock;
  }
  Connection* stream = StreamOf(session, frame->stream_id);
  if (stream == nullptr) return kNgStreamFailure;
  self->wire_.append(reinterpret_cast<const char*>(frame_header), kFrameHeaderBytes);
  self->transport_->TakeOutput(stream, bytes, &self->wire_);
  self->OnProgress(stream);
  return 0;
}

}  // namespace httpsys::engine
