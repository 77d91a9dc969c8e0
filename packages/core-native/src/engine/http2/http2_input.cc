// What is received of HTTP/2: frames, counted before they cost anything.

#include <memory>
#include <utility>

#include "base/limits.h"
#include "engine/http2/http2_session.h"

namespace httpsys::engine {

using http2::ErrorCode;
using http2::FrameWalker;
using http2::kContinuationFrame;
using http2::kDataFrame;
using http2::kEnhanceYourCalm;
using http2::kFlagAck;
using http2::kFlagEndStream;
using http2::kHeadersFrame;
using http2::kInternalError;
using http2::kNgBadPreface;
using http2::kNgCallbackFailure;
using http2::kNgFlooded;
using http2::kNoError;
using http2::kPingFrame;
using http2::kPriorityFrame;
using http2::kPriorityUpdateFrame;
using http2::kProtocolError;
using http2::kResetFrame;
using http2::kSettingsFrame;
using http2::kStreamClosed;
using http2::NgApi;
using http2::RequestFields;
using http2::UsedStreams;

void Http2Session::Receive(Connection* connection, std::string_view bytes) {
  Http2State* state = connection->http2.get();
  if (state->is_over) return;
  state->received_ms = uv_now(loop_);
  is_receiving_ = true;
  const ssize_t used = ReadFrames(state, bytes);
  TellBegun();
  is_receiving_ = false;
  if (state->failure == kNoError && IsUnread(state)) state->failure = kEnhanceYourCalm;
  if (state->failure != kNoError) {
    Fail(state, state->failure);
  } else if (used < 0) {
    Fail(state, used == kNgFlooded      ? kEnhanceYourCalm
                : used == kNgBadPreface ? kProtocolError
                                        : kInternalError);
  }
  MarkDirty(state);
}

ssize_t Http2Session::ReadFrames(Http2State* state, std::string_view bytes) {
  while (!bytes.empty() && state->failure == kNoError) {
    const FrameWalker::Step step = state->walker.Read(bytes);
    const ssize_t used = api_->session_mem_recv(
        state->session, reinterpret_cast<const uint8_t*>(bytes.data()), step.used);
    if (used < 0) return used;
    bytes.remove_prefix(step.used);
    if (step.kind == FrameWalker::Kind::kData) CheckStream(state, step.stream, false);
    if (step.kind == FrameWalker::Kind::kBadPriority) state->failure = kProtocolError;
  }
  return 0;
}

// True when the peer makes the lane answer and does not read the answers.
bool Http2Session::IsUnread(const Http2State* state) const {
  const Connection& connection = *state->connection;
  if (connection.queue == nullptr) return false;
  const size_t frames = api_->session_get_outbound_queue_size(state->session);
  return Transport::UnsentBytes(connection) + state->abandoned_bytes +
             frames * limits::kHttp2FrameBytes >
         limits::kHttp2UnsentBytesMax;
}

// Nothing more is read; the peer learns why, if it reads that in time.
void Http2Session::Fail(Http2State* state, ErrorCode code) {
  if (state->is_over) return;
  state->is_over = state->is_failed = true;
  api_->session_terminate_session(state->session, code);
  transport_->StartIdleTimer(state->connection, limits::kLingerMs);
}

void Http2Session::OnEof(Connection* connection) {
  Http2State* state = connection->http2.get();
  // What it was sent is not read any more.
  state->is_over = true;
  transport_->Close(connection, 0);
}

int Http2Session::OnBeginFrame(Ng*, const Frame* frame, void* user) {
  auto* state = static_cast<Http2State*>(user);
  return state->owner->CountFrame(state, *frame) ? 0 : kNgCallbackFailure;
}

// Frames that cost more than they bring, as long as there are few of them.
bool Http2Session::CountFrame(Http2State* state, const Frame& frame) {
  const uint64_t now = state->received_ms;
  bool is_fine = true;
  if (frame.type == kHeadersFrame && !CheckStream(state, frame.stream_id, true)) return false;
  switch (frame.type) {
    case kResetFrame:
      is_fine = state->resets.Take(now, limits::kHttp2ResetsMax, limits::kHttp2ResetsPerSecond);
      break;
    case kContinuationFrame:
      is_fine = ++state->continuations <= limits::kHttp2ContinuationsMax;
      break;
    case kDataFrame:
      if (frame.length != 0 || (frame.flags & kFlagEndStream) != 0) break;
      [[fallthrough]];
    case kPriorityFrame:
    case kSettingsFrame:
    case kPingFrame:
    case kPriorityUpdateFrame:
      is_fine = state->idle_frames.Take(now, limits::kHttp2IdleFramesMax,
                                        limits::kHttp2IdleFramesPerSecond);
      break;
    default:
      state->continuations = 0;
      break;
  }
  if (!is_fine) state->failure = kEnhanceYourCalm;
  return is_fine;
}

bool Http2Session::CheckStream(Http2State* state, int32_t id, bool is_headers) {
  if (id <= state->last_stream && api_->session_find_stream(state->session, id) != nullptr) {
    return true;
  }
  switch (state->used.OnFrame(id, is_headers)) {
    case UsedStreams::Verdict::kClosed:
      state->failure = kStreamClosed;
      return false;
    case UsedStreams::Verdict::kSkipped:
      state->failure = kProtocolError;
      return false;
    case UsedStreams::Verdict::kFine:
      break;
  }
  return true;
}

int Http2Session::OnBeginHeaders(Ng*, const Frame*, void* user) {
  auto* state = static_cast<Http2State*>(user);
  Http2Session* self = state->owner;
  const ServerSettings& settings = state->connection->server->config->settings();
  if (state->fields == nullptr) state->fields = self->TakeFields();
  state->fields->Reset(settings.header_bytes_max, settings.header_lines_max);
  state->continuations = 0;
  if (state->connection->message_start_ns == 0) state->connection->message_start_ns = uv_hrtime();
  return 0;
}

int Http2Session::OnField(Ng*, const Frame*, const uint8_t* name, size_t name_bytes,
                          const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
  auto* state = static_cast<Http2State*>(user);
  if (state->fields == nullptr) return 0;
  state->fields->Add({reinterpret_cast<const char*>(name), name_bytes},
                     {reinterpret_cast<const char*>(value), value_bytes});
  return CountFields(state) ? 0 : kNgCallbackFailure;
}

// False when the section expands to more than anybody means. What is refused goes on counting:
// nghttp2 decodes it to its end.
bool Http2Session::CountFields(Http2State* state) {
  const size_t most = state->connection->server->config->settings().header_bytes_max +
                      limits::kHttp2OversizeBytesMax;
  if (state->fields->total_bytes() <= most) return true;
  state->failure = kEnhanceYourCalm;
  return false;
}

// nghttp2 would leave it out: whoever is behind us could take the message for another one.
int Http2Session::OnInvalidField(Ng*, const Frame* frame, const uint8_t* name, size_t name_bytes,
                                 const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
  auto* state = static_cast<Http2State*>(user);
  if (state->fields == nullptr) return 0;
  // One reset for all of a section.
  if (!state->fields->is_refused()) {
    state->fields->Refuse();
    state->owner->ResetStream(state, frame->stream_id, kProtocolError);
  }
  state->fields->Add({reinterpret_cast<const char*>(name), name_bytes},
                     {reinterpret_cast<const char*>(value), value_bytes});
  return CountFields(state) ? 0 : kNgCallbackFailure;
}

// One that nghttp2 refuses by itself, most often by resetting its stream.
int Http2Session::OnInvalidFrame(Ng*, const Frame*, int, void* user) {
  auto* state = static_cast<Http2State*>(user);
  return state->owner->CountError(state) ? 0 : kNgCallbackFailure;
}

int Http2Session::OnFrame(Ng* session, const Frame* frame, void* user) {
  auto* state = static_cast<Http2State*>(user);
  Http2Session* self = state->owner;
  switch (frame->type) {
    case kHeadersFrame:
      self->OnSection(state, *frame);
      break;
    case kDataFrame: {
      Connection* stream = StreamOf(session, frame->stream_id);
      if (stream != nullptr && (frame->flags & kFlagEndStream) != 0) self->OnPeerEnd(stream);
      break;
    }
    case kPingFrame:
      if ((frame->flags & kFlagAck) != 0) self->OnPing(state);
      break;
    default:
      break;
  }
  return state->failure == kNoError ? 0 : kNgCallbackFailure;
}

int Http2Session::OnData(Ng* session, uint8_t, int32_t stream_id, const uint8_t* data, size_t bytes,
                         void* user) {
  auto* state = static_cast<Http2State*>(user);
  Http2Session* self = state->owner;
  // Only the streams' own windows hold anybody back.
  self->api_->session_consume_connection(session, bytes);
  Connection* stream = StreamOf(session, stream_id);
  if (stream == nullptr) {
    self->api_->session_consume_stream(session, stream_id, bytes);
  } else {
    self->OnBodyPiece(stream, {reinterpret_cast<const char*>(data), bytes});
  }
  return state->failure == kNoError ? 0 : kNgCallbackFailure;
}

int Http2Session::OnStreamClose(Ng* session, int32_t stream_id, uint32_t code, void*) {
  Connection* stream = StreamOf(session, stream_id);
  if (stream == nullptr) return 0;
  Http2State* state = stream->stream->state;
  // By nghttp2: a body that is not as long as it was said to be.
  if (code == kProtocolError) state->owner->CountError(state);
  stream->stream->is_gone = true;
  if (state->owner->is_receiving_ && code != kNoError) {
    state->abandoned_bytes += stream->stream->head_bytes;
  }
  // What came before the end of a tunnel is still to be read.
  const bool is_kept = stream->partial != nullptr && !IsRelayed(stream->phase);
  if (stream->stream->is_end_due && is_kept) return 0;
  // An answer that is complete: nobody waits to hear that it has left.
  const bool is_patient = stream->stream->is_complete && stream->stream->has_ended;
  state->owner->transport_->CloseStream(stream, is_patient);
  return 0;
}

Connection* Http2Session::StreamOf(Ng* session, int32_t id) {
  return static_cast<Connection*>(NgApi::Get()->session_get_stream_user_data(session, id));
}

void Http2Session::ResetStream(Http2State* state, int32_t id, ErrorCode code) {
  api_->submit_rst_stream(state->session, 0, id, code);
  CountError(state);
}

// What the peer does wrong, which costs a frame each time. False when that is too often.
bool Http2Session::CountError(Http2State* state) {
  const bool is_fine = state->errors.Take(state->received_ms, limits::kHttp2ErrorsMax,
                                          limits::kHttp2ErrorsPerSecond);
  if (!is_fine) state->failure = kEnhanceYourCalm;
  return is_fine;
}

std::unique_ptr<RequestFields> Http2Session::TakeFields() {
  if (spare_fields_.empty()) return std::make_unique<RequestFields>();
  auto fields = std::move(spare_fields_.back());
  spare_fields_.pop_back();
  return fields;
}

void Http2Session::ReturnFields(std::unique_ptr<RequestFields> fields) {
  if (spare_fields_.size() < limits::kSpareFieldsMax) spare_fields_.push_back(std::move(fields));
}

}  // namespace httpsys::engine
