#include "engine/http2_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/check.h"
#include "common/limits.h"
#include "engine/http1_session.h"
#include "http2/upgrade.h"

namespace httpsys::engine {

using namespace http2;  // NOLINT(google-build-using-namespace): its names are those of RFC 9113.

bool Allowance::Take(uint64_t now_ms, uint32_t most, uint32_t per_second) {
  const uint64_t now = now_ms / 1000;
  const uint64_t passed = now - std::min(now, second);
  second = now;
  used -= static_cast<uint32_t>(std::min<uint64_t>(used, passed * per_second));
  return ++used <= most;
}

Http2State::~Http2State() {
  if (session != nullptr) NgApi::Get()->session_del(session);
}

Http2Session::Http2Session(uv_loop_t* loop, const http1::MethodTable* methods, RequestQueue* queue,
                           RecordWriter* records, Transport* transport, RequestRouter* router,
                           UnreadRequests* unread)
    : loop_(loop),
      api_(NgApi::Get()),
      methods_(methods),
      head_method_(methods->Find("HEAD")),
      queue_(queue),
      records_(records),
      transport_(transport),
      router_(router),
      unread_(unread) {
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
  api_->session_callbacks_set_send_data_callback(callbacks_, SendData);
  api_->session_callbacks_set_on_frame_send_callback(callbacks_, OnFrameSent);
  api_->option_set_no_auto_window_update(option_, 1);
  api_->option_set_max_outbound_ack(option_, limits::kHttp2UnsentAcksMax);
  api_->option_set_max_settings(option_, limits::kHttp2SettingsMax);
  api_->option_set_builtin_recv_extension_type(option_, kPriorityUpdateFrame);
}

Http2Session::~Http2Session() {
  if (callbacks_ != nullptr) api_->session_callbacks_del(callbacks_);
  if (option_ != nullptr) api_->option_del(option_);
}

// -- Beginning.

Http2Session::Ng* Http2Session::MakeSession(Http2State* state) {
  Ng* session = nullptr;
  if (api_ == nullptr) return nullptr;
  return api_->session_server_new2(&session, callbacks_, state, option_) == 0 ? session : nullptr;
}

// nullptr when out of memory.
std::unique_ptr<Http2State> Http2Session::MakeState(Connection* connection) {
  auto state = std::make_unique<Http2State>();
  state->session = MakeSession(state.get());
  state->owner = this;
  state->connection = connection;
  state->received_ms = uv_now(loop_);
  return state->session == nullptr ? nullptr : std::move(state);
}

void Http2Session::Use(Connection* connection, std::unique_ptr<Http2State> state) {
  connection->http2 = std::move(state);
  connection->phase = InputPhase::kHttp2;
  if (connection->idle_timeout_ms == 0) connection->idle_timeout_ms = limits::kNativeIdleMs;
  MarkDirty(connection->http2.get());
}

bool Http2Session::Begin(Connection* connection) {
  std::unique_ptr<Http2State> state = MakeState(connection);
  if (state == nullptr) return false;
  if (!SubmitSettings(state.get(), connection->server->config->settings())) return false;
  Use(connection, std::move(state));
  return true;
}

bool Http2Session::Upgrade(Connection* connection, const http1::RequestHead& head,
                           std::string_view settings, std::string_view body) {
  static constexpr std::string_view kAnswer =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
  constexpr int32_t kFirstStream = 1;
  std::unique_ptr<Http2State> made = MakeState(connection);
  if (made == nullptr) return false;
  const bool is_head = head.method == head_method_;
  const auto* payload = reinterpret_cast<const uint8_t*>(settings.data());
  const bool is_upgraded = api_->session_upgrade2(made->session, payload, settings.size(),
                                                  is_head ? 1 : 0, nullptr) == 0;
  const ServerSettings& own = connection->server->config->settings();
  if (!is_upgraded || !SubmitSettings(made.get(), own)) return false;
  Use(connection, std::move(made));
  if (!transport_->WriteNow(connection, kAnswer)) return true;
  Http2State* state = connection->http2.get();
  state->last_stream = kFirstStream;
  state->used.OnFrame(kFirstStream, true);
  connection->message_start_ns = 0;
  state->fields = TakeFields();
  state->fields->Reset(own.header_bytes_max, own.header_lines_max);
  AddUpgradedFields(head, methods_->Name(head.method), state->fields.get());
  is_receiving_ = true;
  OpenStream(state, kFirstStream, body.empty());
  if (!body.empty()) {
    Connection* stream = state->first_stream;
    stream->stream->body.assign(body);
    stream->stream->has_ended = true;
    TellBegun();
  }
  is_receiving_ = false;
  MarkDirty(state);
  return true;
}

bool Http2Session::SubmitSettings(Http2State* state, const ServerSettings& settings) {
  const Http2Settings& own = settings.http2;
  const auto list_bytes =
      static_cast<uint32_t>(std::min<size_t>(settings.header_bytes_max, UINT32_MAX / 2));
  const NgSetting entries[] = {
      {kHeaderTableSize, own.header_table_bytes},
      {kMaxConcurrentStreams, own.streams_max},
      {kInitialWindowSize, own.window_bytes},
      {kMaxFrameSize, own.frame_bytes_max},
      // As it counts: 32 bytes more for each field.
      {kMaxHeaderListSize, list_bytes + list_bytes / 2},
      {kEnableConnectProtocol, 1},
      {kNoRfc7540Priorities, 1},
  };
  return api_->submit_settings(state->session, 0, entries, std::size(entries)) == 0 &&
         api_->session_set_local_window_size(state->session, 0, 0,
                                             limits::kHttp2ConnectionWindowBytes) == 0;
}

// -- Receiving.

void Http2Session::Receive(Connection* connection, std::string_view bytes) {
  Http2State* state = connection->http2.get();
  if (state->is_over) return;
  state->received_ms = uv_now(loop_);
  is_receiving_ = true;
  const ssize_t used = ReadFrames(state, bytes);
  TellBegun();
  is_receiving_ = false;
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

// Nothing more is read; the peer learns why.
void Http2Session::Fail(Http2State* state, ErrorCode code) {
  if (state->is_over) return;
  state->is_over = true;
  api_->session_terminate_session(state->session, code);
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
  const size_t most = state->connection->server->config->settings().header_bytes_max +
                      limits::kHttp2OversizeBytesMax;
  if (state->fields->total_bytes() <= most) return 0;
  state->failure = kEnhanceYourCalm;
  return kNgCallbackFailure;
}

// nghttp2 would leave it out: whoever is behind us could take the message for another one.
int Http2Session::OnInvalidField(Ng*, const Frame* frame, const uint8_t*, size_t, const uint8_t*,
                                 size_t, uint8_t, void* user) {
  auto* state = static_cast<Http2State*>(user);
  if (state->fields != nullptr) state->owner->ReturnFields(std::move(state->fields));
  state->owner->ResetStream(state, frame->stream_id, kProtocolError);
  return 0;
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

// -- Sending.

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

// -- Ends.

void Http2Session::Shutdown(Connection* connection) {
  Http2State* state = connection->http2.get();
  if (state->is_over || std::exchange(state->is_noticed, true)) return;
  static constexpr uint8_t kOpaque[8] = {};
  api_->submit_shutdown_notice(state->session);
  api_->submit_ping(state->session, 0, kOpaque);
  state->awaits_notice = true;
  transport_->StartIdleTimer(connection, limits::kHttp2NoticeMs);
  MarkDirty(state);
}

// What was on its way when the peer read the first one has arrived.
void Http2Session::FinishShutdown(Http2State* state) {
  if (std::exchange(state->is_last, true)) return;
  state->awaits_notice = false;
  api_->submit_goaway(state->session, 0, api_->session_get_last_proc_stream_id(state->session),
                      kNoError, nullptr, 0);
  Watch(state);
  if (state->streams == 0) state->is_over = true;
  MarkDirty(state);
}

void Http2Session::Close(Connection* connection) {
  Http2State* state = connection->http2.get();
  Fail(state, kNoError);
  Flush(state);
  if (connection->is_open()) transport_->Close(connection, 0);
}

void Http2Session::OnNoStreams(Http2State* state) {
  Connection* connection = state->connection;
  if (!connection->is_open() || state->is_over) return;
  if (state->is_last) {
    state->is_over = true;
    if (!is_receiving_) AddDirty(state);
  }
  Watch(state);
}

// One timer: idle without streams, PING with them.
void Http2Session::Watch(Http2State* state) {
  Connection* connection = state->connection;
  if (state->awaits_notice || !connection->is_open()) return;
  uint64_t timeout_ms = connection->idle_timeout_ms;
  if (state->streams != 0) timeout_ms = connection->server->config->settings().http2.ping_ms;
  if (timeout_ms != 0) {
    transport_->StartIdleTimer(connection, timeout_ms);
  } else {
    transport_->StopTimer(connection);
  }
}

void Http2Session::OnIdleTimeout(Connection* connection, uint32_t timeout_ms) {
  connection->idle_timeout_ms = timeout_ms;
  if (connection->http2->streams == 0) Watch(connection->http2.get());
}

void Http2Session::OnTimer(Connection* connection) {
  if (connection->stream != nullptr) return OnStalled(connection);
  Http2State* state = connection->http2.get();
  if (state->awaits_notice) return FinishShutdown(state);
  if (state->streams == 0) {
    if (state->is_noticed) return transport_->Close(connection, 0);
    return Shutdown(connection);
  }
  const uint64_t ping_ms = connection->server->config->settings().http2.ping_ms;
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

void Http2Session::OnPing(Http2State* state) {
  state->awaits_ping = false;
  if (state->awaits_notice) FinishShutdown(state);
}

void Http2Session::CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns) {
  if (!connection->is_open() || connection->message_start_ns == 0 || headers_ns == 0) return;
  if (now_ns - std::min(now_ns, connection->message_start_ns) <= headers_ns) return;
  Close(connection);
}

void Http2Session::OnDetach(Connection* connection) {
  if (connection->http2 != nullptr) {
    Http2State* state = connection->http2.get();
    std::replace(dirty_.begin(), dirty_.end(), state, static_cast<Http2State*>(nullptr));
    state->is_over = true;
    while (state->first_stream != nullptr) {
      state->first_stream->stream->is_gone = true;
      transport_->Close(state->first_stream, 0);
    }
    return;
  }
  Http2Stream* stream = connection->stream.get();
  Http2State* state = std::exchange(stream->state, nullptr);
  if (state == nullptr) return;
  std::erase(begun_, connection);
  Connection*& before =
      stream->previous == nullptr ? state->first_stream : stream->previous->stream->next;
  before = stream->next;
  if (stream->next != nullptr) stream->next->stream->previous = stream->previous;
  if (stream->fields != nullptr) ReturnFields(std::move(stream->fields));
  if (!state->connection->is_open()) return;
  if (!stream->is_gone) {
    // nghttp2 calls back no more.
    api_->session_set_stream_user_data(state->session, stream->id, nullptr);
    api_->submit_rst_stream(state->session, 0, stream->id, stream->reset_code);
    MarkDirty(state);
  }
  if (--state->streams == 0) OnNoStreams(state);
}

}  // namespace httpsys::engine
