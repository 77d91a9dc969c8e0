#pragma once
// Sends JavaScript's replies on connections of HTTP/1.1, and on connections upgraded from it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/request_router.h"
#include "records/replies.h"

namespace httpsys::engine {

// Thread: the lane.
class Http1Replies {
 public:
  Http1Replies(Transport* transport, Input* input, Exchanges* exchanges, RequestRouter* router)
      : transport_(transport),
        output_(transport->output()),
        input_(input),
        exchanges_(exchanges),
        router_(router) {}

  // Handles a reply. Returns false if another protocol must handle this type of reply.
  bool OnReply(Connection* connection, const ReplyRecord& reply);

 private:
  void OnResponse(Connection* connection, const ReplyRecord& reply);
  void OnData(Connection* connection, const ReplyRecord& reply);
  void OnTrailers(Connection* connection, const ReplyRecord& reply);
  void OnBlock(Connection* connection, const ReplyRecord& reply);
  void OnDestroy(Connection* connection, const ReplyRecord& reply);
  void OnIdleTimeout(Connection* connection, uint32_t timeout_ms);
  void BeginChunk(Connection* connection, size_t bytes);
  void SendBody(Connection* connection, std::string_view bytes, uint32_t flags);
  void End(Connection* connection, uint32_t flags, uint32_t idle_timeout_ms);

  Transport* transport_;
  OutputPass* output_;
  Input* input_;
  Exchanges* exchanges_;
  RequestRouter* router_;
};

}  // namespace httpsys::engine
