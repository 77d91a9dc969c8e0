#include "engine/http2/http2_session.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "engine/http1/http1_session.h"
#include "http2/nghttp2_memory.h"
#include "http2/upgrade.h"

namespace httpsys::engine {

using http2::AddUpgradedFields;
using http2::kEnableConnectProtocol;
using http2::kHeaderTableSize;
using http2::kInitialWindowSize;
using http2::kMaxConcurrentStreams;
using http2::kMaxFrameSize;
using http2::kMaxHeaderListSize;
using http2::kNoError;
using http2::kNoRfc7540Priorities;
using http2::kPriorityUpdateFrame;
using http2::NgApi;
using http2::NgSetting;

Http2Session::Http2Session(uv_loop_t* loop, const http1::MethodTable* methods, RequestQueue* queue,
                           RecordWriter* records, Transport* transport, RequestRouter* router)
    : loop_(loop),
      api_(NgApi::Get()),
      methods_(methods),
      head_method_(methods->Find("HEAD")),
      queue_(queue),
      records_(records),
      transport_(transport),
      router_(router) {
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
  http2::NgMemory memory = http2::SmallBlockMemory();  // Is copied.
  const bool is_made =
      api_->session_server_new3(&session, callbacks_, state, option_, &memory) == 0;
  return is_made ? session : nullptr;
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
  const NgSetting entries[] = {
      {kHeaderTableSize, own.header_table_bytes},
      {kMaxConcurrentStreams, own.streams_max},
      {kInitialWindowSize, own.window_bytes},
      {kMaxFrameSize, own.frame_bytes_max},
      {kMaxHeaderListSize, http2::RequestFields::ListBytesMax(settings.header_bytes_max)},
      {kEnableConnectProtocol, 1},
      {kNoRfc7540Priorities, 1},
  };
  return api_->submit_settings(state->session, 0, entries, std::size(entries)) == 0 &&
         api_->session_set_local_window_size(state->session, 0, 0,
                                             limits::kHttp2ConnectionWindowBytes) == 0;
}

// -- Ends.

void Http2Session::Shutdown(Connection* connection) {
  if (SubmitNotice(connection->http2.get())) MarkDirty(connection->http2.get());
}

// The first GOAWAY of two. False: it was sent before.
bool Http2Session::SubmitNotice(Http2State* state) {
  if (state->is_over || std::exchange(state->is_noticed, true)) return false;
  static constexpr uint8_t kOpaque[8] = {};
  api_->submit_shutdown_notice(state->session);
  api_->submit_ping(state->session, 0, kOpaque);
  state->awaits_notice = true;
  transport_->StartIdleTimer(state->connection, limits::kHttp2NoticeMs);
  return true;
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
  if (connection->http2->streams == 0 && !connection->http2->is_failed)
    Watch(connection->http2.get());
}

void Http2Session::OnTimer(Connection* connection) {
  if (connection->stream != nullptr) return OnStalled(connection);
  Http2State* state = connection->http2.get();
  // It does not read why: what the kernel still has for it goes, too.
  if (state->is_failed) return transport_->Reset(connection);
  if (state->awaits_notice) return FinishShutdown(state);
  if (state->streams == 0 && connection->queue != nullptr) {
    // Not idle: the peer still reads the last response.
    return Watch(state);
  }
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
  // After the answer. Whoever closes the stream goes on to send, or marks the session below.
  if (stream->ends_connection) SubmitNotice(state);
  if (!stream->is_gone) {
    // nghttp2 calls back no more.
    api_->session_set_stream_user_data(state->session, stream->id, nullptr);
    api_->submit_rst_stream(state->session, 0, stream->id, stream->reset_code);
    MarkDirty(state);
  }
  if (--state->streams == 0) OnNoStreams(state);
}

}  // namespace httpsys::engine
