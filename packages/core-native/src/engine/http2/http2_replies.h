#pragma once
// Handles JavaScript's replies on connections and streams of HTTP/2.

#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/http2/http2_connections.h"
#include "engine/http2/http2_requests.h"
#include "engine/http2/http2_responses.h"
#include "records/replies.h"

namespace httpsys::engine {

// Thread: the lane.
class Http2Replies {
 public:
  Http2Replies(Transport* transport, Http2Connections* connections, Http2Responses* responses,
               Http2Requests* requests)
      : transport_(transport),
        output_(transport->output()),
        connections_(connections),
        responses_(responses),
        requests_(requests) {}

  // Handles a reply. Returns false if the protocol of the stream's bytes must handle it instead.
  bool OnReply(Connection* connection, const ReplyRecord& reply);

 private:
  bool OnStreamReply(Connection* stream, const ReplyRecord& reply);
  void OnStreamBlock(Connection* stream, const ReplyRecord& reply);
  void EndStream(Connection* stream, uint32_t flags, uint32_t idle_timeout_ms);

  Transport* transport_;
  OutputPass* output_;
  Http2Connections* connections_;
  Http2Responses* responses_;
  Http2Requests* requests_;
};

}  // namespace httpsys::engine
