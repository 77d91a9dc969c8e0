#pragma once
// Who serves which request on a port: one immutable version, which lanes read without a lock.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sharing/port_state.h"
#include "url/url_prefix_table.h"

namespace httpsys::sharing {

class PortRoutes {
 public:
  struct Owner {
    uint64_t member = 0;  // 0 = this engine.
    uint32_t server_id = 0;
    uint32_t prefix_id = 0;
    bool is_plain = false;  // Listens on the port as a whole: its connections stay, as on Node.
    bool is_fed = false;    // Somebody else shares connections out among the owners already.
  };

  struct Target {
    std::vector<Owner> owners;  // Of one queue. Empty = waits for an absent one.
    uint64_t absent_until_ms = 0;

    // Whether one of them takes whatever Host a request has, as Node does.
    bool has_plain_owner() const {
      return std::any_of(owners.begin(), owners.end(),
                         [](const Owner& owner) { return owner.is_plain; });
    }
  };

  // `self` is this engine's id. `has_idle`: a server of it listens without any prefix.
  static std::shared_ptr<const PortRoutes> Create(uint16_t port, uint64_t self,
                                                  const PortState& state,
                                                  const std::vector<UrlPrefix>& reserved = {},
                                                  bool has_idle = false);

  uint16_t port() const { return port_; }
  // Another member or more than one server is registered: requests have to be looked at before
  // their connection has a server. Not where workers of one cluster are all there is: each serves
  // what its primary gives it.
  bool is_shared() const { return is_shared_; }
  // False: nobody is left, and no requests come.
  bool is_used() const { return has_idle_ || !targets_.empty(); }
  bool has_peers() const { return !peers_.empty(); }
  // Connections may be somebody else's.
  bool passes_on() const { return is_shared_ && has_peers(); }
  // Other members with a server on the port.
  const std::vector<uint64_t>& peers() const { return peers_; }
  // Servers of this engine.
  const std::vector<uint32_t>& local_servers() const { return local_servers_; }
  // With kMatch, `id` is that of a target. kOffline: whose it was has died, and nobody has a wider
  // prefix.
  // `name` is a name of ReadHost().
  Route Find(std::string_view name, std::string_view target, const LocalAddress& local) const;
  const Target& target(uint32_t id) const { return targets_[id]; }

  // Who has the certificate of a name: who has registered that host, the server of this engine with
  // that id first, then this engine.
  struct HostOwner {
    bool is_there = false;
    bool is_named = false;      // The name itself or a subdomain wildcard, not just any host.
    bool is_preferred = false;  // It is the server that was asked for.
    uint64_t member = 0;        // 0 = this engine.
    uint32_t server_id = 0;
  };
  HostOwner FindHost(std::string_view name, const LocalAddress& local,
                     uint32_t preferred_id = 0) const;

  // Some addresses of the port speak TLS and others do not: all its prefixes are bound to one each.
  bool is_mixed() const { return !places_.empty(); }
  struct Place {
    std::array<uint8_t, 16> ip{};
    bool is_secure = false;
    std::vector<Owner> owners;  // Some prefix of each is here.
  };
  // Of a mixed port. nullptr: nobody has registered anything at this address.
  const Place* FindPlace(const LocalAddress& local) const;
  size_t target_count() const { return targets_.size(); }

 private:
  bool IsOneCluster() const;
  static std::vector<Place> PlacesOf(uint64_t self, const PortState& state);

  uint16_t port_ = 0;
  bool has_idle_ = false;
  bool has_offline_ = false;
  bool is_shared_ = false;
  UrlPrefixTable table_;
  UrlPrefixTable offline_;
  std::vector<Target> targets_;
  std::vector<uint64_t> peers_;
  std::vector<uint32_t> local_servers_;
  std::vector<Place> places_;
};

}  // namespace httpsys::sharing
