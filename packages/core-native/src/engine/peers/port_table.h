#pragma once
// The ports of a lane that servers share, and who owns what there.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/peers/port_statistics.h"
#include "sharing/port_routes.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

using LaneServers = std::unordered_map<uint32_t, std::unique_ptr<LaneServer>>;

// Thread: the lane.
class PortTable {
 public:
  using Routes = sharing::PortRoutes;

  struct Port {
    std::shared_ptr<const Routes> routes;
    PortStatistics::Port* statistics = nullptr;
    // By target: the owner that gets the next new connection, and the requests that wait.
    std::vector<uint32_t> turns;
    std::vector<uint32_t> waiting;

    void SetRoutes(std::shared_ptr<const Routes> next);
  };

  PortTable(LaneServers* servers, PortStatistics* statistics)
      : servers_(servers), statistics_(statistics) {}
  PortTable(const PortTable&) = delete;
  PortTable& operator=(const PortTable&) = delete;

  void SetRoutes(std::shared_ptr<const Routes> routes);
  // True when connections may go to other members, on any port.
  bool has_peers() const { return has_peers_; }
  const Port* Find(uint16_t number) const;
  Port* Find(uint16_t number);
  bool IsShared(uint16_t port) const;
  // A server of this engine that has a prefix on the port.
  LaneServer* ServerOn(const Port* port, const LaneServer* except) const;
  // One that speaks what is spoken at this address.
  LaneServer* ServerAt(const Port& port, const LocalAddress& local);
  // True when the server would speak TLS on a connection to this address where that is spoken, and
  // only there.
  static bool Fits(const Port& port, const LocalAddress& local, const LaneServer& server);
  // nullptr when the lane does not know it any more.
  LaneServer* Server(uint32_t id) const {
    const auto found = servers_->find(id);
    return found == servers_->end() ? nullptr : found->second.get();
  }
  // No request waits any more, on any port.
  void ClearWaiting() {
    for (Port& port : ports_) std::fill(port.waiting.begin(), port.waiting.end(), 0);
  }

 private:
  LaneServers* servers_;
  PortStatistics* statistics_;
  std::vector<Port> ports_;
  bool has_peers_ = false;
};

}  // namespace httpsys::engine
