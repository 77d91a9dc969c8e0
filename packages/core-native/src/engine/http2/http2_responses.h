#pragma once
// Sends responses on streams of HTTP/2.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_connections.h"
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
                 Http2Connections* connections)
      : api_(api),
        transport_(transport),
        output_(transport->output()),
        router_(router),
        connections_(connections) {}
  Http2Responses& operator=(Http2Responses&&) = delete;

  // Sends a complete head, given as HTTP/1.1 text. `is_all`: the response has no body.
  void OnHead(Connection* stream, std::string_view head, bool is_all);
  // Sends HTTP/1.1 text in which the application has framed head and body itself.
  void OnText(Connection* stream, std::string_view text);
  // Sends a piece of the body, without framing.
  void OnBody(Connection* stream, std::string_view bytes);
  // Sends a lent block. `is_framed`: the block contains only body bytes; otherwise it may contain
  // the application's framing.
  void OnBlock(Connection* stream, uint32_t block_id, std::string_view bytes, bool is_framed);
  // Sends a part of a file. `is_framed` is as in OnBlock().
  void OnFile(Connection* stream, uint32_t block_id, std::shared_ptr<const files::FilePart> part,
              bool is_framed);
  // Keeps the trailer lines for the end of the response.
  void OnTrailers(Connection* stream, std::string_view lines);
  // Ends the response. `is_whole`: the caller knows that the response is complete; otherwise the
  // stream fails unless the response's framing shows it. `closes`: the rest of the request's body
  // is not needed.
  void OnEnd(Connection* stream, bool is_whole, bool closes);
  // Called when JavaScript destroys the stream. Resets the stream unless the response is complete.
  void OnDestroy(Connection* stream);
  // Writes as much of the stream's output as can be written now.
  void FlushNow(Connection* stream);
  // Sends HTTP/1.1 text of the application or of another member, by reference to `copy`. Returns
  // the number of bytes that are not body.
  size_t SendText(Connection* connection, const std::shared_ptr<const std::string>& copy,
                  bool counts_body);
  // Resets the stream with `code` and closes it.
  void FailStream(Connection* connection, http2::ErrorCode code);
  // Makes nghttp2 ask for the stream's output again, if it had stopped for lack of output.
  void Resume(Connection* connection);
  // Starts the stall timer, because output of the stream was queued.
  void OnBehind(Connection* connection);
  // Restarts the stall timer, because the server, not the client, held the output.
  void OnReleased(Connection* connection);
  // Called when the stall timer has expired: the client opens no window, or does not read. Resets
  // the stream, unless the server holds the output.
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
  Http2Connections* connections_;
  http2::ResponseHead response_;
  http2::ResponseFields response_fields_;
  std::vector<http1::HeaderLine> trailers_;
};

}  // namespace httpsys::engine
