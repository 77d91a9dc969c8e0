#pragma once
// Applies maxConnectionsPerAddress and maxConnectionsPerPrefix.

#include <sys/socket.h>

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/lane_server.h"

namespace httpsys::engine {

// A connection counts for its server from the beginning, and for the prefix of its last request; a
// connection of HTTP/2 for every prefix that it has asked for, since its requests overlap.
// UncommonState::Counted has the groups of a connection; only this class writes it. Thread: the
// lane.
class ConnectionLimits {
 public:
  using Group = ConnectionCounts::Group;

  // Sets the group of a client: an IPv4 address, or a /64 network of IPv6. `remote` is an address
  // as Node writes it. Returns false if the client has no address.
  static bool ReadClient(const sockaddr_storage& peer, Group* group);
  static bool ReadClient(std::string_view remote, Group* group);
  // True if the client of an accepted socket has as many connections as the server allows. Counts
  // nothing.
  static bool IsFull(int fd, const LaneServer& server);
  // Counts a connection that begins. Returns false if it must be refused.
  static bool MayBegin(Connection* connection);
  // Counts the connection for the server and the prefix of a request, and no longer for the ones
  // before (unless it is HTTP/2). Returns false if the request must be refused because its client,
  // or its prefix, has too many connections.
  static bool MayAsk(Connection* connection, uint32_t prefix_id) {
    const ServerSettings& settings = connection->server()->config->settings();
    const bool is_limited =
        settings.max_connections_per_address != 0 || settings.max_connections_per_prefix != 0;
    return (!is_limited && !connection->is_counted()) || MayAskLimited(connection, prefix_id);
  }
  // Must be called when the connection is not open any more.
  static void OnDetached(Connection* connection) {
    if (connection->is_counted()) Forget(connection);
  }

 private:
  static bool ReadClient(const Connection& connection, Group* group);
  static bool ReadPeer(int fd, Group* group);
  static bool MayAskLimited(Connection* connection, uint32_t prefix_id);
  static bool Add(Connection* connection, const LaneServer& server, const Group& group,
                  uint32_t most);
  static void Forget(Connection* connection);
};

}  // namespace httpsys::engine
