#include "engine/http2/http2_session.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "engine/connection/connection.h"
#include "http2/nghttp2_api.h"

namespace httpsys::engine {

using http2::FrameWalker;
using http2::kContinuationFrame;
using http2::kDataFrame;
using http2::kEnableConnectProtocol;
using http2::kEnhanceYourCalm;
using http2::kFlagAck;
using http2::kFlagEndStream;
using http2::kHeadersFrame;
using http2::kHeaderTableSize;
using http2::kInitialWindowSize;
using http2::kInternalError;
using http2::kMaxConcurrentStreams;
using http2::kMaxFrameSize;
using http2::kMaxHeaderListSize;
using http2::kNgBadPreface;
using http2::kNgCallbackFailure;
using http2::kNgFlooded;
using http2::kNoError;
using http2::kNoRfc7540Priorities;
using http2::kPingFrame;
using http2::kPriorityFrame;
using http2::kPriorityUpdateFrame;
using http2::kProtocolError;
using http2::kResetFrame;
using http2::kSettingsFrame;
using http2::kStreamClosed;
using http2::NgApi;
using http2::NgSetting;
using http2::UsedStreams;

Http2Session::Http2Session(uv_loop_t* loop, const http1::MethodTable* methods, Transport* transport,
                           Input* input, RequestRouter* router, NativeAnswers* answers,
                           RequestPipeline* pipeline)
    : loop_(loop),
      api_(NgApi::Get()),
      transport_(transport),
      connections_(loop, api_, transport),
      responses_(api_, transport, router, &connections_),
      relays_(methods, router, &connections_, &responses_),
      requests_(loop, api_, methods, transport, input, pipeline, answers, &connections_,
                &responses_, &relays_),
      replies_(transport, &connections_, &responses_, &requests_) {
  if (api_ == nullptr) return;
  HTTPSYS_CHECK(api_->session_callbacks_new(&callbacks_) == 0 && api_->option_new(&option_) == 0);
  api_->session_callbacks_set_on_begin_frame_callback(callbacks_, OnBeginFrame);
  api_->session_callbacks_set_on_begin_headers_callback(callbacks_, OnBeginHeaders);
  api_->session_callbacks_set_on_header_callback(callbacks_, OnField);
  api_->session_callbacks_set_on_invalid_header_callback(callbacks_, OnInvalidField);
  api_->session_callbacks_set_on_invalid_frame_recv_callback(callbacks_, OnInvalidFrame);
  api_->session_callbacks_set_on_frame_recv_callback(callbacks_, OnFrame);
  api_->session_callbacks_set_on_data_chunk_recv_callback(callbacks_, OnData);
  api_->session_callbacks_set_on_stream_close_callback(callbacks_, OnStreamClose);
  api_->session_callbacks_set_send_data_callback(callbacks_, Http2Responses::SendData);
  api_->session_callbacks_set_on_frame_send_callback(callbacks_, Http2Responses::OnFrameSent);
  api_->option_set_no_auto_window_update(option_, 1);
  api_->option_set_max_outbound_ack(option_, limits::kHttp2UnsentAcksMax);
  api_->option_set_max_settings(option_, limits::kHttp2SettingsMax);
  api_->option_set_builtin_recv_extension_type(option_, kPriorityUpdateFrame);
}

Http2Session::~Http2Session() {
  if (callbacks_ != nullptr) api_->session_callbacks_del(callbacks_);
  if (option_ != nullptr) api_->option_del(option_);
}

http2::NgSession* Http2Session::MakeSession(Http2State* state) {
  Ng* session = nullptr;
  if (api_ == nullptr) return nullptr;
  http2::NgMemory memory = http2::SmallBlockMemory();  // nghttp2 copies the struct.
  const bool is_made =
      api_->session_server_new3(&session, callbacks_, state, option_, &memory) == 0;
  return is_made ? session : nullptr;
}

bool Http2Session::Begin(Connection* connection) {
  auto state = std::make_unique<Http2State>();
  state->session = MakeSession(state.get());
  if (state->session == nullptr) return false;
  state->owner = this;
  state->connection = connection;
  state->received_ms = uv_now(loop_);
  if (!SubmitSettings(state.get(), connection->server()->config->settings())) return false;
  connection->http2 = std::move(state);
  connection->Enter(InputPhase::kHttp2);
  ConnectionTimers::LimitIdle(connection);
  connections_.MarkDirty(connection->http2.get());
  return true;
}

bool Http2Session::SubmitSettings(Http2State* state, const ServerSettings& settings) {
  const Http2Settings& own = settings.http2;
  state->window_bytes = static_cast<int32_t>(own.initial_window_size);
  const NgSetting entries[] = {
      {kHeaderTableSize, own.header_table_size},
      {kMaxConcurrentStreams, own.max_concurrent_streams},
      {kInitialWindowSize, own.initial_window_size},
      {kMaxFrameSize, own.max_frame_size},
      {kMaxHeaderListSize, http2::RequestFields::ListBytesMax(settings.max_header_size)},
      {kEnableConnectProtocol, 1},
      {kNoRfc7540Priorities, 1},
  };
  return api_->submit_settings(state->session, 0, entries, std::size(entries)) == 0 &&
         api_->session_set_local_window_size(state->session, 0, 0,
                                             limits::kHttp2ConnectionWindowBytes) == 0;
}

Protocol::Advance Http2Session::OnReadable(Connection* connection, std::string_view input,
                                           size_t* used) {
  *used = input.size();
  Http2State* state = connection->http2.get();
  if (!state->is_over) Receive(state, input);
  return Advance::kGoOn;
}

void Http2Session::Receive(Http2State* state, std::string_view bytes) {
  state->received_ms = uv_now(loop_);
  connections_.set_receiving(true);
  const ssize_t used = ReadFrames(state, bytes);
  requests_.TellBegun();
  connections_.set_receiving(false);
  if (state->failure == kNoError && connections_.IsUnread(state)) state->failure = kEnhanceYourCalm;
  if (state->failure != kNoError) {
    connections_.Fail(state, state->failure);
  } else if (used < 0) {
    connections_.Fail(state, used == kNgFlooded      ? kEnhanceYourCalm
                             : used == kNgBadPreface ? kProtocolError
                                                     : kInternalError);
  }
  connections_.MarkDirty(state);
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

void Http2Session::OnEof(Connection* connection) {
  transport_->OnPeerEnded(connection);
  Http2State* state = connection->http2.get();
  // Write no more frames: the client has ended the connection.
  state->is_over = true;
  transport_->Close(connection, 0);
}

int Http2Session::OnBeginFrame(Ng*, const Frame* frame, void* user) {
  auto* state = static_cast<Http2State*>(user);
  return Of(state)->CountFrame(state, *frame) ? 0 : kNgCallbackFailure;
}

// Limits frames by which a client could flood the lane. Returns false if there are too many.
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
  Http2Session* self = Of(state);
  const ServerSettings& settings = state->connection->server()->config->settings();
  if (state->fields == nullptr) state->fields = self->connections_.TakeFields();
  state->fields->Reset(settings.max_header_size, settings.max_header_lines);
  state->continuations = 0;
  if (state->connection->message.start_ns() == 0) {
    state->connection->message.Begin(uv_hrtime());
  }
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

// Returns false if the decoded section is longer than any honest client sends. A refused section
// counts, too, because nghttp2 decodes it to its end.
bool Http2Session::CountFields(Http2State* state) {
  const size_t most = state->connection->server()->config->settings().max_header_size +
                      limits::kHttp2OversizeBytesMax;
  if (state->fields->total_bytes() <= most) return true;
  state->failure = kEnhanceYourCalm;
  return false;
}

// Refuses a request with an invalid field. nghttp2 would only drop the field, and the application
// could then misread the request.
int Http2Session::OnInvalidField(Ng*, const Frame* frame, const uint8_t* name, size_t name_bytes,
                                 const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
  auto* state = static_cast<Http2State*>(user);
  if (state->fields == nullptr) return 0;
  // A section causes at most one reset, however many of its fields are invalid.
  if (!state->fields->is_refused()) {
    state->fields->Refuse();
    Of(state)->connections_.ResetStream(state, frame->stream_id, kProtocolError);
  }
  state->fields->Add({reinterpret_cast<const char*>(name), name_bytes},
                     {reinterpret_cast<const char*>(value), value_bytes});
  return CountFields(state) ? 0 : kNgCallbackFailure;
}

// Called when nghttp2 itself refuses a frame, most often by resetting its stream.
int Http2Session::OnInvalidFrame(Ng*, const Frame*, int, void* user) {
  auto* state = static_cast<Http2State*>(user);
  return Of(state)->connections_.CountError(state) ? 0 : kNgCallbackFailure;
}

int Http2Session::OnFrame(Ng* session, const Frame* frame, void* user) {
  auto* state = static_cast<Http2State*>(user);
  Http2Session* self = Of(state);
  switch (frame->type) {
    case kHeadersFrame:
      self->requests_.OnSection(state, *frame);
      break;
    case kDataFrame: {
      Connection* stream = Http2Connections::StreamOf(session, frame->stream_id);
      if (stream != nullptr && (frame->flags & kFlagEndStream) != 0)
        self->requests_.OnPeerEnd(stream);
      break;
    }
    case kSettingsFrame:
      if ((frame->flags & kFlagAck) != 0) state->is_settled = true;
      break;
    case kPingFrame:
      if ((frame->flags & kFlagAck) != 0) self->connections_.OnPing(state);
      break;
    default:
      break;
  }
  return state->failure == kNoError ? 0 : kNgCallbackFailure;
}

int Http2Session::OnData(Ng* session, uint8_t, int32_t stream_id, const uint8_t* data, size_t bytes,
                         void* user) {
  auto* state = static_cast<Http2State*>(user);
  Http2Session* self = Of(state);
  // Give the connection's window back at once: only the windows of streams hold a client back.
  self->api_->session_consume_connection(session, bytes);
  Connection* stream = Http2Connections::StreamOf(session, stream_id);
  if (stream == nullptr) {
    self->api_->session_consume_stream(session, stream_id, bytes);
  } else {
    self->requests_.OnBodyPiece(stream, {reinterpret_cast<const char*>(data), bytes});
  }
  return state->failure == kNoError ? 0 : kNgCallbackFailure;
}

int Http2Session::OnStreamClose(Ng* session, int32_t stream_id, uint32_t code, void*) {
  Connection* stream = Http2Connections::StreamOf(session, stream_id);
  if (stream == nullptr) return 0;
  Http2State* state = stream->stream->state;
  // nghttp2 closes a stream with this code if a body is not as long as its Content-Length.
  if (code == kProtocolError) Of(state)->connections_.CountError(state);
  stream->stream->is_gone = true;
  if (Of(state)->connections_.is_receiving() && code != kNoError) {
    state->abandoned_bytes += stream->stream->head_bytes;
  }
  // Keep the stream while JavaScript has yet to read the tunnel's last bytes.
  const bool is_kept = stream->input.partial() != nullptr && !IsRelayed(stream->phase());
  if (stream->stream->is_end_due && is_kept) return 0;
  // The answer is complete, so JavaScript can learn of the stream's end later.
  const bool is_patient = stream->stream->is_complete && stream->stream->has_ended;
  Of(state)->transport_->CloseStream(stream, is_patient);
  return 0;
}

void Http2Session::OnTouched(Connection* connection) {
  if (connection->stream == nullptr) return connections_.AddDirty(connection->http2.get());
  responses_.Resume(connection);
  connections_.AddDirty(connection->stream->state);
}

void Http2Session::OnDetach(Connection* connection) {
  if (connection->http2 != nullptr) {
    Http2State* state = connection->http2.get();
    connections_.OnDetach(state);
    while (state->first_stream != nullptr) {
      state->first_stream->stream->is_gone = true;
      transport_->Close(state->first_stream, 0);
    }
    return;
  }
  Http2Stream* stream = connection->stream.get();
  Http2State* state = std::exchange(stream->state, nullptr);
  if (state == nullptr) return;
  Connection*& before =
      stream->previous == nullptr ? state->first_stream : stream->previous->stream->next;
  before = stream->next;
  if (stream->next != nullptr) stream->next->stream->previous = stream->previous;
  requests_.OnDetach(connection);
  if (!state->connection->is_open()) return;
  // Submit the GOAWAY behind the answer. It is sent by the caller's flush, or because MarkDirty()
  // follows below.
  if (stream->ends_connection) connections_.SubmitNotice(state);
  if (!stream->is_gone) {
    // Detach the stream, so that nghttp2's callbacks no longer find it.
    api_->session_set_stream_user_data(state->session, stream->id, nullptr);
    api_->submit_rst_stream(state->session, 0, stream->id, stream->reset_code);
    connections_.MarkDirty(state);
  }
  if (--state->streams == 0) connections_.OnNoStreams(state);
}

}  // namespace httpsys::engine
