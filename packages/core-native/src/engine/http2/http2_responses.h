#pragma once
// What is sent on streams of HTTP/2.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_connections.h"
#include "engine/requests/request_gate.h"
#include "engine/requests/request_router.h"
#include "http2/nghttp2_api.h"
#include "http2/response_fields.h"
#include "http2/response_text.h"

namespace httpsys::engine {

// Thread: the lane.
class Http2Responses {
 public:
  using Ng = http2::NgSession;
  using Frame = http2::NgFrameHeader;

  Http2Responses(const http2::NgApi* api, Transport* transport, RequestRouter* router,
                 RequestGate* gate, Http2Connections* connections)
      : api_(api),
        transport_(transport),
        output_(transport->output()),
        router_(router),
        gate_(gate),
        connections_(connections) {}
  Http2Responses(const Http2Responses&) = delete;
  Http2Responses& operator=(const Http2Responses&) = delete;

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
  // Sends what can be sent.
  void FlushNow(Connection* stream);
  // As text. Returns the bytes that are none of a body.
  size_t SendText(Connection* connection, const std::shared_ptr<const std::string>& copy,
                  bool counts_body);
  // Resets the stream.
  void FailStream(Connection* connection, http2::ErrorCode code);
  // nghttp2 learns that there is more to send.
  void Resume(Connection* connection);
  // What the stream has to send is kept.
  void OnBehind(Connection* connection);
  // The peer opens no window for what it has asked for, or does not read.
  void OnStalled(Connection* connection);

  // -- Callbacks of nghttp2.

  static int SendData(Ng* session, Frame* frame, const uint8_t* frame_header, size_t bytes,
                      http2::NgSource* source, void* user);
  static int OnFrameSent(Ng* session, const Frame* frame, void* user);

 private:
  static ssize_t ReadOutput(Ng* session, int32_t stream_id, uint8_t* buffer, size_t bytes,
                            uint32_t* flags, http2::NgSource* source, void* user);
  void SendHead(Connection* stream, std::string_view text, bool is_all);
  void Submit(Connection* stream, bool has_body);
  void OnProgress(Connection* stream);

  const http2::NgApi* api_;
  Transport* transport_;
  OutputPass* output_;
  RequestRouter* router_;
  RequestGate* gate_;
  Http2Connections* connections_;
  http2::ResponseHead response_;
  http2::ResponseFields response_fields_;
  std::vector<http1::HeaderLine> trailers_;
};

}  // namespace httpsys::engine
