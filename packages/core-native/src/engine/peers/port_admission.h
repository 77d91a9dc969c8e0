#pragma once
// What keeps a request from the server that the port's routes have chosen for it.

#include <cstddef>
#include <string_view>

#include "engine/connection/connection.h"
#include "http1/request_parser.h"
#include "sharing/port_routes.h"
#include "url/host_name.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Thread: the lane.
class PortAdmission {
 public:
  using Routes = sharing::PortRoutes;

  // The one with the socket.
  static const Connection* RealOf(const Connection* connection);
  // Its descriptor alone is worth nothing to others; before the first byte of TLS was read it is.
  static bool IsPinned(const Connection* connection);
  // More than the request has been read; `rest` is what came behind its head.
  static bool HasMore(const http1::RequestHead& head, size_t rest);
  static bool IsMisdirected(const Routes& routes, const Connection* connection,
                            std::string_view name);
  static bool IsOwnHandshake(const Connection* connection, const LaneServer& server);
  // Both speak TLS, or neither does.
  static bool SpeakAlike(const Connection* connection, const LaneServer& server);
  static bool MayServe(const Connection* connection, const LaneServer& server,
                       std::string_view name);
  static bool IsAllowed(const Connection* connection, const LaneServer& server,
                        const HostName& host, Route* route);
};

}  // namespace httpsys::engine
