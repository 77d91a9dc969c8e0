#pragma once
// The rules that keep a request from a server although the port's routes have chosen the server.

#include <cstddef>
#include <string_view>

#include "engine/connection/connection.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"
#include "url/host_name.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Stateless. Thread: the lane.
class PortAdmission {
 public:
  using Routes = sharing::PortRoutes;

  // True if the connection cannot move to another member because it has TLS or HTTP/2 state. A TLS
  // connection can still move before its first byte is read.
  static bool IsPinned(const Connection* connection);
  // True if bytes behind the request have been read; `rest` is the number of bytes behind its head.
  static bool HasMore(const http1::RequestHead& head, size_t rest);
  // True if the client asks for a host of another server, and was not shown a certificate for that
  // host (421).
  static bool IsMisdirected(const Routes& routes, const Connection* connection,
                            std::string_view name);
  // True if the server made the TLS handshake of the connection since its last listen(), or if
  // neither server nor connection has TLS.
  static bool IsOwnHandshake(const Connection* connection, const LaneServer& server);
  // True if connection and server both use TLS, or neither does.
  static bool SpeakAlike(const Connection* connection, const LaneServer& server);
  // True if the server may answer a request for `name` on a connection whose handshake another
  // server made.
  static bool MayServe(const Connection* connection, const LaneServer& server,
                       std::string_view name);
  // Applies all rules. Returns false and sets the route's status if the server must not have the
  // request.
  static bool IsAllowed(const Connection* connection, const LaneServer& server,
                        const HostName& host, Route* route);
};

}  // namespace httpsys::engine
