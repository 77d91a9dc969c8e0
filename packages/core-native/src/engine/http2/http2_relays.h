#pragma once
// Relays requests on HTTP/2 streams to another member of the port, and its answers to the client.
// Used by the member that has the client.

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/http2/http2_connections.h"
#include "engine/http2/http2_responses.h"
#include "engine/requests/request_router.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Thread: the lane.
class Http2Relays {
 public:
  Http2Relays(const http1::MethodTable* methods, RequestRouter* router,
              Http2Connections* connections, Http2Responses* responses)
      : methods_(methods), router_(router), connections_(connections), responses_(responses) {}
  Http2Relays& operator=(Http2Relays&&) = delete;

  // Sends the request's head, and its body so far, to the member. Returns false if no relay can be
  // opened.
  bool Begin(Connection* connection, uint64_t member, const http1::RequestHead& head);
  // Sends a piece of the request's body, or of a tunnel.
  void RelayPiece(Connection* connection, std::string_view piece);
  // Informs the member that the client has ended its direction.
  void EndRelayed(Connection* connection);
  // Gives the client its window back for the bytes that the member has taken.
  void GiveRelayWindow(Connection* connection);

  // -- Events of the member, as in RelayedStreams.

  void OnRelayedBytes(Connection* connection, std::string_view bytes);
  void OnRelayedUpgrade(Connection* connection, bool is_accepted);
  void OnRelayEnded(Connection* connection, bool is_answer_due);

 private:
  void SendRelayed(Connection* connection, std::string_view piece);

  const http1::MethodTable* methods_;
  RequestRouter* router_;
  Http2Connections* connections_;
  Http2Responses* responses_;
  std::string relayed_;  // Scratch memory: text for the member.
};

}  // namespace httpsys::engine
