#pragma once
// HTTP/2 on the connections of a lane: turns frames into requests, and the output of streams into
// frames.

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/block_store.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/protocol.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_connections.h"
#include "engine/http2/http2_relays.h"
#include "engine/http2/http2_replies.h"
#include "engine/http2/http2_requests.h"
#include "engine/http2/http2_responses.h"
#include "engine/pipeline/request_pipeline.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/request_router.h"
#include "http1/method_table.h"
#include "http2/nghttp2_api.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Reads the frames of all HTTP/2 connections of a lane. Thread: the lane.
class Http2Session final : public Protocol, public StreamHandler, public Http2Entry {
 public:
  Http2Session(uv_loop_t* loop, const http1::MethodTable* methods, Transport* transport,
               Input* input, RequestRouter* router, NativeAnswers* answers,
               RequestPipeline* pipeline);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  static bool IsAvailable() { return http2::NgApi::Get() != nullptr; }
  AnswerWriter* writer() { return &requests_; }
  RelayedStreams* relayed() { return &requests_; }
  UnbegunStreams* unbegun() { return &requests_; }

  // -- Http2Entry.

  bool Begin(Connection* connection) override;

  // -- Protocol.

  Advance OnReadable(Connection* connection, std::string_view input, size_t* used) override;
  void OnEof(Connection* connection) override;
  void OnTimeout(Connection* connection) override { OnTimer(connection); }
  bool OnReply(Connection* connection, const ReplyRecord& reply) override {
    return replies_.OnReply(connection, reply);
  }

  // Ends the connection gracefully; see Http2Connections::Shutdown().
  void Shutdown(Connection* connection) { connections_.Shutdown(connection); }
  // Closes a connection whose preface or field section has not arrived within headers_ns. Refuses
  // the request of a stream whose body has not arrived within request_ns.
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns,
                     uint64_t request_ns) {
    if (connection->http2 != nullptr) {
      connections_.CheckTimeouts(connection, now_ns, headers_ns);
    } else {
      requests_.CheckStreamTimeouts(connection, now_ns, request_ns);
    }
  }

  // -- StreamHandler.

  void OnTouched(Connection* connection) override;
  void FlushSessions() override { connections_.FlushSessions(); }
  void OnOutputDone(Connection* connection) override { connections_.OnOutputDone(connection); }
  void OnPausesChanged(Connection* stream) override { requests_.OnPausesChanged(stream); }
  void OnDetach(Connection* connection) override;
  void OnTimer(Connection* connection) override {
    if (connection->stream != nullptr) return responses_.OnStalled(connection);
    connections_.OnTimer(connection->http2.get());
  }
  void OnBehind(Connection* stream) override { responses_.OnBehind(stream); }
  void OnReleased(Connection* stream) override { responses_.OnReleased(stream); }

 private:
  using Ng = http2::NgSession;
  using Frame = http2::NgFrameHeader;

  static Http2Session* Of(const Http2State* state) {
    return static_cast<Http2Session*>(state->owner);
  }

  // -- Callbacks of nghttp2; `user` is the Http2State.
  static int OnBeginFrame(Ng* session, const Frame* frame, void* user);
  static int OnBeginHeaders(Ng* session, const Frame* frame, void* user);
  static int OnField(Ng* session, const Frame* frame, const uint8_t* name, size_t name_bytes,
                     const uint8_t* value, size_t value_bytes, uint8_t flags, void* user);
  static int OnInvalidField(Ng* session, const Frame* frame, const uint8_t* name, size_t name_bytes,
                            const uint8_t* value, size_t value_bytes, uint8_t flags, void* user);
  static int OnInvalidFrame(Ng* session, const Frame* frame, int error, void* user);
  static int OnFrame(Ng* session, const Frame* frame, void* user);
  static int OnData(Ng* session, uint8_t flags, int32_t stream_id, const uint8_t* data,
                    size_t bytes, void* user);
  static int OnStreamClose(Ng* session, int32_t stream_id, uint32_t error_code, void* user);

  Ng* MakeSession(Http2State* state);
  bool SubmitSettings(Http2State* state, const ServerSettings& settings);
  void Receive(Http2State* state, std::string_view bytes);
  ssize_t ReadFrames(Http2State* state, std::string_view bytes);
  bool CheckStream(Http2State* state, int32_t id, bool is_headers);
  bool CountFrame(Http2State* state, const Frame& frame);
  static bool CountFields(Http2State* state);

  uv_loop_t* loop_;
  const http2::NgApi* api_;
  Transport* transport_;
  http2::NgCallbacks* callbacks_ = nullptr;
  http2::NgOption* option_ = nullptr;
  Http2Connections connections_;
  Http2Responses responses_;
  Http2Relays relays_;
  Http2Requests requests_;
  Http2Replies replies_;
};

}  // namespace httpsys::engine
