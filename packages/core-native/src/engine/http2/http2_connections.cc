#include "engine/http2/http2_connections.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

using http2::ErrorCode;
using http2::kEnhanceYourCalm;
using http2::kFrameHeaderBytes;
using http2::kNoError;
using http2::NgApi;
using http2::RequestFields;

void Http2Connections::MarkDirty(Http2State* state) { output_->Touch(state->connection); }

void Http2Connections::AddDirty(Http2State* state) {
  if (state == nullptr || std::exchange(state->is_dirty, true)) return;
  dirty_.push_back(state);
}

void Http2Connections::FlushSessions() {
  // A flush may close streams of another session, but never a session.
  for (size_t i = 0; i < dirty_.size(); ++i) {
    Http2State* state = dirty_[i];
    if (state == nullptr) continue;
    state->is_dirty = false;
    if (state->connection->is_open()) Flush(state);
  }
  dirty_.clear();
}

void Http2Connections::Flush(Http2State* state) {
  Connection* connection = state->connection;
  state->is_behind = connection->output.queue() != nullptr;
  bool is_done = false;
  wire_bytes_ = limits::kHttp2WireBytes;
  while (!is_done && !state->is_behind) {
    is_done = MakeFrames(state);
    // Once nghttp2's queue of frames without body data is empty, the abandoned heads have been
    // written.
    if (state->abandoned_bytes != 0 && api_->session_get_outbound_queue_size(state->session) == 0) {
      state->abandoned_bytes = 0;
    }
    if (!wire_.empty() && !output_->WriteNow(connection, wire_)) return;
    if (!is_done) state->is_behind = connection->output.queue() != nullptr;
    wire_bytes_ = std::min(2 * wire_bytes_, limits::kHttp2WireBytesMax);
  }
  if (wire_.capacity() > 2 * limits::kHttp2WireBytesMax) wire_.shrink_to_fit();
  if (!state->is_behind) CloseIfOver(state);
}

// Returns true if there are no more frames to make.
bool Http2Connections::MakeFrames(Http2State* state) {
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

void Http2Connections::CloseIfOver(Http2State* state) {
  const bool is_over = state->is_over || (api_->session_want_read(state->session) == 0 &&
                                          api_->session_want_write(state->session) == 0);
  if (is_over) transport_->FinishNow(state->connection);
}

void Http2Connections::OnOutputDone(Connection* connection) {
  Http2State* state = connection->http2.get();
  if (state->is_behind) MarkDirty(state);
}

void Http2Connections::Fail(Http2State* state, ErrorCode code) {
  if (state->is_over) return;
  state->is_over = state->is_failed = true;
  api_->session_terminate_session(state->session, code);
  transport_->StartIdleTimer(state->connection, limits::kLingerMs);
}

bool Http2Connections::CountError(Http2State* state) {
  const bool is_fine = state->errors.Take(state->received_ms, limits::kHttp2ErrorsMax,
                                          limits::kHttp2ErrorsPerSecond);
  if (!is_fine) state->failure = kEnhanceYourCalm;
  return is_fine;
}

void Http2Connections::ResetStream(Http2State* state, int32_t id, ErrorCode code) {
  api_->submit_rst_stream(state->session, 0, id, code);
  CountError(state);
}

bool Http2Connections::IsUnread(const Http2State* state) const {
  const Connection& connection = *state->connection;
  if (connection.output.queue() == nullptr) return false;
  const size_t frames = api_->session_get_outbound_queue_size(state->session);
  return OutputPass::UnsentBytes(connection) + state->abandoned_bytes +
             frames * limits::kHttp2FrameBytes >
         limits::kHttp2UnsentBytesMax;
}

void Http2Connections::Shutdown(Connection* connection) {
  if (SubmitNotice(connection->http2.get())) MarkDirty(connection->http2.get());
}

bool Http2Connections::SubmitNotice(Http2State* state) {
  if (state->is_over || std::exchange(state->is_noticed, true)) return false;
  static constexpr uint8_t kOpaque[8] = {};
  api_->submit_shutdown_notice(state->session);
  api_->submit_ping(state->session, 0, kOpaque);
  state->awaits_notice = true;
  transport_->StartIdleTimer(state->connection, limits::kHttp2NoticeMs);
  return true;
}

// Sends the second GOAWAY. Every request that the client sent before it read the first GOAWAY has
// arrived by now.
void Http2Connections::FinishShutdown(Http2State* state) {
  if (std::exchange(state->is_last, true)) return;
  state->awaits_notice = false;
  api_->submit_goaway(state->session, 0, api_->session_get_last_proc_stream_id(state->session),
                      kNoError, nullptr, 0);
  Watch(state);
  if (state->streams == 0) state->is_over = true;
  MarkDirty(state);
}

void Http2Connections::Close(Connection* connection) {
  Http2State* state = connection->http2.get();
  Fail(state, kNoError);
  Flush(state);
  if (connection->is_open()) transport_->Close(connection, 0);
}

void Http2Connections::OnNoStreams(Http2State* state) {
  Connection* connection = state->connection;
  if (!connection->is_open() || state->is_over) return;
  if (state->is_last) {
    state->is_over = true;
    if (!is_receiving_) AddDirty(state);
  }
  Watch(state);
}

void Http2Connections::Watch(Http2State* state) {
  Connection* connection = state->connection;
  if (state->awaits_notice || !connection->is_open()) return;
  uint64_t timeout_ms = connection->idle.timeout_ms();
  if (state->streams != 0)
    timeout_ms = connection->server()->config->settings().http2.ping_interval;
  if (timeout_ms != 0) {
    transport_->StartIdleTimer(connection, timeout_ms);
  } else {
    transport_->StopTimer(connection);
  }
}

void Http2Connections::OnIdleTimeout(Connection* connection, uint32_t timeout_ms) {
  ConnectionTimers::SetIdleTimeout(connection, timeout_ms);
  if (connection->http2->streams == 0 && !connection->http2->is_failed)
    Watch(connection->http2.get());
}

void Http2Connections::OnPing(Http2State* state) {
  state->awaits_ping = false;
  if (state->awaits_notice) FinishShutdown(state);
}

void Http2Connections::CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns) {
  if (!connection->is_open() || connection->message.start_ns() == 0 || headers_ns == 0) return;
  if (now_ns - std::min(now_ns, connection->message.start_ns()) <= headers_ns) return;
  Close(connection);
}

Connection* Http2Connections::StreamOf(Ng* session, int32_t id) {
  return static_cast<Connection*>(NgApi::Get()->session_get_stream_user_data(session, id));
}

void Http2Connections::GiveWindow(Connection* connection, uint32_t bytes) {
  Http2Stream* stream = connection->stream.get();
  const uint32_t given = std::min(bytes, stream->unread_bytes);
  stream->unread_bytes -= given;
  if (given == 0 || stream->state == nullptr || stream->is_gone || stream->has_ended) return;
  api_->session_consume_stream(stream->state->session, stream->id, given);
  if (!is_receiving_) MarkDirty(stream->state);
}

std::unique_ptr<http2::RequestFields> Http2Connections::TakeFields() {
  if (spare_fields_.empty()) return std::make_unique<RequestFields>();
  auto fields = std::move(spare_fields_.back());
  spare_fields_.pop_back();
  return fields;
}

void Http2Connections::ReturnFields(std::unique_ptr<RequestFields> fields) {
  if (spare_fields_.size() < limits::kSpareFieldsMax) spare_fields_.push_back(std::move(fields));
}

void Http2Connections::ForgetRequest(Connection* connection) {
  Http2Stream* stream = connection->stream.get();
  stream->is_movable = false;
  if (stream->fields == nullptr) return;
  ReturnFields(std::move(stream->fields));
  stream->body.clear();
  stream->body.shrink_to_fit();
}

bool Http2Connections::IsWireFull() {
  if (wire_.size() < wire_bytes_) return false;
  is_wire_full_ = true;
  return true;
}

bool Http2Connections::TakeOutput(Connection* stream, const uint8_t* frame_header, size_t bytes) {
  const size_t at = wire_.size();
  wire_.append(reinterpret_cast<const char*>(frame_header), kFrameHeaderBytes);
  if (output_->TakeOutput(stream, bytes, &wire_)) return true;
  wire_.resize(at);
  return false;
}

void Http2Connections::OnDetach(Http2State* state) {
  std::replace(dirty_.begin(), dirty_.end(), state, static_cast<Http2State*>(nullptr));
  state->is_over = true;
}

void Http2Connections::OnTimer(Http2State* state) {
  Connection* connection = state->connection;
  // The client has not read the GOAWAY in time: the reset also drops the bytes that the kernel
  // still has for it.
  if (state->is_failed) return transport_->Reset(connection);
  if (state->awaits_notice) return FinishShutdown(state);
  if (state->streams == 0 && connection->output.queue() != nullptr) {
    // The connection is not idle: the client still reads the last response.
    return Watch(state);
  }
  // The lane does not read, for lack of memory: frames of the client, perhaps the ACK of our PING,
  // may wait in the socket.
  if (connection->IsHeldUp()) return Watch(state);
  if (state->streams == 0) {
    if (state->is_noticed) return transport_->Close(connection, 0);
    return Shutdown(connection);
  }
  const uint64_t ping_ms = connection->server()->config->settings().http2.ping_interval;
  if (ping_ms == 0) return;
  const uint64_t silent_ms = uv_now(loop_) - state->received_ms;
  if (silent_ms >= ping_ms && state->awaits_ping) {
    return transport_->Close(connection, ETIMEDOUT);
  }
  if (silent_ms >= ping_ms) {
    static constexpr uint8_t kOpaque[8] = {};
    state->awaits_ping = true;
    api_->submit_ping(state->session, 0, kOpaque);
    MarkDirty(state);
  }
  transport_->StartIdleTimer(connection, ping_ms);
}

}  // namespace httpsys::engine
