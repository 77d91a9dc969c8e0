#pragma once
// HTTP/2 on the connections of a lane: frames to request records, and what is sent on streams to
// frames.

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/requests/request_router.h"
#include "http1/method_table.h"
#include "http2/nghttp2_api.h"
#include "http2/request_fields.h"
#include "http2/response_fields.h"
#include "http2/response_text.h"
#include "records/record_writer.h"
#include "records/request_queue.h"

namespace httpsys::engine {

class Http1Session;

// Thread: the lane.
class Http2Session final : public StreamHandler {
 public:
  Http2Session(uv_loop_t* loop, const http1::MethodTable* methods, RequestQueue* queue,
               RecordWriter* records, Transport* transport, RequestRouter* router);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // What reads the bytes of tunnels and WebSockets.
  void set_http1(Http1Session* http1) { http1_ = http1; }

  static bool IsAvailable() { return http2::NgApi::Get() != nullptr; }
  // What a client begins with that knows what it wants (RFC 9113, section 3.4).
  static constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  static_assert(kPreface.size() == kHttp2PrefaceBytes);

  // -- Connections.

  // From here on the connection's input is frames, beginning with the preface. False: no memory.
  bool Begin(Connection* connection);
  // The same for a connection whose first request asks for HTTP/2, and is answered on stream 1;
  // `body` is all of its body. False: it stays a request of HTTP/1.1.
  bool Upgrade(Connection* connection, const http1::RequestHead& head, std::string_view settings,
               std::string_view body);
  void Receive(Connection* connection, std::string_view bytes);
  void OnEof(Connection* connection);
  // Two GOAWAYs; it closes when its streams have ended.
  void Shutdown(Connection* connection);
  // Of a stream whose request JavaScript was given; with a reset where `reply` is empty.
  void RefuseUnread(Connection* stream, std::string_view reply);
  // One GOAWAY, now.
  void Close(Connection* connection);
  // Closes a connection whose head began too long ago, or that never sent one.
  void CheckTimeouts(Connection* connection, uint64_t now_ns, uint64_t headers_ns);
  // Refuses the request of a stream that began too long ago.
  void CheckStreamTimeouts(Connection* stream, uint64_t now_ns, uint64_t request_ns);
  void OnIdleTimeout(Connection* connection, uint32_t timeout_ms);

  // -- What JavaScript sends on a stream.

  // A whole head; `is_all` when nothing follows it.
  void OnHead(Connection* stream, std::string_view head, bool is_all);
  // As the application framed it.
  void OnText(Connection* stream, std::string_view text);
  // A piece of body by itself.
  void OnBody(Connection* stream, std::string_view bytes);
  void OnBlock(Connection* stream, uint32_t block_id, std::string_view bytes, bool is_framed);
  void OnTrailers(Connection* stream, std::string_view lines);
  // The response is complete: certainly, or if its framing says so. With `closes` the rest of the
  // request is not wanted.
  void OnEnd(Connection* stream, bool is_whole, bool closes);
  void OnDestroy(Connection* stream);
  void OnWindow(Connection* stream, uint32_t bytes);
  void OnUpgradeDecline(Connection* stream);
  // Sends what can be sent.
  void FlushNow(Connection* stream);

  // -- What the member of the port says that answers a stream's request.

  // Bytes of the answer; they are copied.
  void OnRelayedBytes(Connection* stream, std::string_view bytes);
  void OnRelayedUpgrade(Connection* stream, bool is_accepted);
  // It has closed its end, where nothing is a tunnel's.
  void OnRelayEnded(Connection* stream, bool is_answer_due);
  // It has died.
  void OnRelayFailed(Connection* stream, bool is_begun);
  // The request is still whole here, so that another member may have it.
  static bool CanTakeBack(const Connection* stream) { return stream->stream->fields != nullptr; }
  void TakeBack(Connection* stream);

  // -- StreamHandler.

  void OnTouched(Connection* connection) override;
  void FlushSessions() override;
  void OnOutputDone(Connection* connection) override;
  void OnPausesChanged(Connection* stream) override;
  void OnDetach(Connection* connection) override;
  void OnTimer(Connection* connection) override;
  void OnBehind(Connection* stream) override;

 private:
  using Ng = http2::NgSession;
  using Frame = http2::NgFrameHeader;

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
  static int OnFrameSent(Ng* session, const Frame* frame, void* user);
  static int OnStreamClose(Ng* session, int32_t stream_id, uint32_t error_code, void* user);
  static ssize_t ReadOutput(Ng* session, int32_t stream_id, uint8_t* buffer, size_t bytes,
                            uint32_t* flags, http2::NgSource* source, void* user);
  static int SendData(Ng* session, Frame* frame, const uint8_t* frame_header, size_t bytes,
                      http2::NgSource* source, void* user);

  // -- Connections.
  Ng* MakeSession(Http2State* state);
  std::unique_ptr<Http2State> MakeState(Connection* connection);
  void Use(Connection* connection, std::unique_ptr<Http2State> state);
  bool SubmitSettings(Http2State* state, const ServerSettings& settings);
  void Fail(Http2State* state, http2::ErrorCode code);
  bool IsUnread(const Http2State* state) const;
  void MarkDirty(Http2State* state);
  void AddDirty(Http2State* state);
  void Flush(Http2State* state);
  bool MakeFrames(Http2State* state);
  bool SubmitNotice(Http2State* state);
  void FinishShutdown(Http2State* state);
  void OnNoStreams(Http2State* state);
  void CloseIfOver(Http2State* state);
  void Watch(Http2State* state);
  ssize_t ReadFrames(Http2State* state, std::string_view bytes);
  bool CheckStream(Http2State* state, int32_t id, bool is_headers);
  bool CountError(Http2State* state);
  bool CountFrame(Http2State* state, const Frame& frame);
  void OnPing(Http2State* state);

  // -- Requests.
  void OnSection(Http2State* state, const Frame& frame);
  void OpenStream(Http2State* state, int32_t id, bool has_ended);
  void TellBegun();
  void Tell(Connection* stream);
  bool FindServer(Connection* stream, Route* route);
  void Deliver(Connection* stream, uint32_t prefix_id, size_t head_bytes);
  void OnBodyPiece(Connection* stream, std::string_view piece);
  void OnPeerEnd(Connection* stream);
  void OnRequestTrailers(Connection* stream);
  void EndOfInput(Connection* stream);
  void AnswerUnrouted(Connection* stream, RouteStatus status);
  void AnswerRefused(Connection* stream, records::ErrorKind kind);
  void AnswerAlone(Connection* stream, std::string_view text);
  void RefuseBody(Connection* stream);
  static bool CountFields(Http2State* state);
  void ResetStream(Http2State* state, int32_t id, http2::ErrorCode code);
  std::unique_ptr<http2::RequestFields> TakeFields();
  void ReturnFields(std::unique_ptr<http2::RequestFields> fields);
  static Connection* StreamOf(Ng* session, int32_t id);
  void GiveWindow(Connection* stream, uint32_t bytes);

  // -- Requests that another member answers.
  void Park(Connection* stream);
  void TellAgain(Connection* stream);
  bool BeginRelay(Connection* stream, uint64_t member);
  void RelayPiece(Connection* stream, std::string_view piece);
  void SendRelayed(Connection* stream, std::string_view piece);
  void EndRelayed(Connection* stream);
  void GiveRelayWindow(Connection* stream);
  void ForgetRequest(Connection* stream);

  // -- Responses.
  // Returns the bytes that are none of a body.
  size_t SendText(Connection* stream, const std::shared_ptr<const std::string>& copy,
                  bool counts_body);
  void SendHead(Connection* stream, std::string_view text, bool is_all);
  void Submit(Connection* stream, bool has_body);
  void FailStream(Connection* stream, http2::ErrorCode code);
  void OnProgress(Connection* stream);
  void OnStalled(Connection* stream);
  void Resume(Connection* stream);

  uv_loop_t* loop_;
  const http2::NgApi* api_;
  const http1::MethodTable* methods_;
  const int head_method_;
  RequestQueue* queue_;
  RecordWriter* records_;
  Transport* transport_;
  RequestRouter* router_;
  Http1Session* http1_ = nullptr;
  http2::NgCallbacks* callbacks_ = nullptr;
  http2::NgOption* option_ = nullptr;

  bool is_receiving_ = false;  // nghttp2 must not be asked for output meanwhile.
  std::vector<Http2State*> dirty_;
  std::vector<Connection*> begun_;  // Streams that are told at the end of what is being received.
  std::string wire_;                // Frames of the session that is being flushed.
  size_t wire_bytes_ = 0;           // As many, and the next one waits.
  bool is_wire_full_ = false;       // One waits.
  std::string relayed_;             // Scratch.
  std::vector<std::unique_ptr<http2::RequestFields>> spare_fields_;
  http1::RequestHead head_;
  http2::ResponseHead response_;
  http2::ResponseFields response_fields_;
  std::vector<http1::HeaderLine> trailers_;
};

}  // namespace httpsys::engine
