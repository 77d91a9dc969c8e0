#pragma once
// The shared ports of a lane, and the routes on each.

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
    // For each target of the routes, by id: the owner whose turn is next.
    std::vector<uint32_t> turns;

    void SetRoutes(std::shared_ptr<const Routes> next);
  };

  PortTable(LaneServers* servers, PortStatistics* statistics)
      : servers_(servers), statistics_(statistics) {}
  PortTable& operator=(PortTable&&) = delete;

  void SetRoutes(std::shared_ptr<const Routes> routes);
  // True if connections may go to other members, on any port.
  bool has_peers() const { return has_peers_; }
  const Port* Find(uint16_t number) const;
  Port* Find(uint16_t number);
  // True if the port has other members or several servers.
  bool IsShared(uint16_t port) const;
  // Returns a server of this engine that has a prefix on the port and is not `except`, or nullptr.
  LaneServer* ServerOn(const Port* port, const LaneServer* except) const;
  // Returns a server of this engine that fits the address (Fits()), or nullptr.
  LaneServer* ServerAt(const Port& port, const LocalAddress& local);
  // True if the server uses TLS at this address just as the port's prefixes there do: both or
  // neither.
  static bool Fits(const Port& port, const LocalAddress& local, const LaneServer& server);
  // Returns the server, or nullptr if the lane does not have it any more.
  LaneServer* Server(uint32_t id) const {
    const auto found = servers_->find(id);
    return found == servers_->end() ? nullptr : found->second.get();
  }
  // True if the owner is a server of this engine whose listen() has not called back.
  bool IsOpening(const Routes::Owner& owner) const {
    const LaneServer* server = owner.member == 0 ? Server(owner.server_id) : nullptr;
    return server != nullptr && server->config->settings().is_opening;
  }

 private:
  LaneServers* servers_;
  PortStatistics* statistics_;
  std::vector<Port> ports_;
  bool has_peers_ = false;
};

}  // namespace httpsys::engine
