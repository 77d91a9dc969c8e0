#pragma once
// The routes of a port: one version, which lanes read without a lock.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/sorted_chunks.h"
#include "url/url_prefix_table.h"

namespace httpsys::sharing {

// Immutable; PortRouting makes each version. A copy shares the parts that it does not change.
class PortRoutes {
 public:
  struct Owner {
    uint64_t member = 0;  // 0 = this engine.
    uint32_t server_id = 0;
    uint32_t prefix_id = 0;
    // The server listens on the whole port (no prefix): its connections stay with it, as in Node.
    bool is_plain = false;
    // Another program (the primary of a cluster) distributes connections among the owners.
    bool is_fed = false;
    bool is_cached = false;  // The owner has an output cache, from which members may answer.
  };

  struct Target {
    // The owners, all of one queue. Empty = the owner is absent and awaited.
    std::vector<Owner> owners;
    uint64_t absent_until_ms = 0;
    bool has_peers = false;  // At least one owner is another member.

    // Returns the first owner in this engine, or nullptr.
    const Owner* own() const {
      const auto found = std::find_if(owners.begin(), owners.end(),
                                      [](const Owner& owner) { return owner.member == 0; });
      return found == owners.end() ? nullptr : &*found;
    }
    // True if an owner takes requests with any Host, as Node does.
    bool has_plain_owner() const {
      return std::any_of(owners.begin(), owners.end(),
                         [](const Owner& owner) { return owner.is_plain; });
    }
  };

  uint16_t port() const { return port_; }
  // True if only a request shows which server gets its connection: another member, or a second
  // server, is registered. False for workers of one cluster: each serves what its primary gives it.
  bool is_shared() const { return is_shared_; }
  bool is_used() const { return has_idle_ || target_count_ != 0; }
  bool has_peers() const { return !peers_.empty(); }
  // True if a connection may have to be passed to another member.
  bool passes_on() const { return is_shared_ && has_peers(); }
  // The other members with a server on the port.
  const std::vector<uint64_t>& peers() const { return peers_; }
  const std::vector<uint32_t>& local_servers() const { return local_servers_; }
  // The number of members that have left the port, as far as this engine knows.
  uint64_t departures() const { return departures_; }
  // Finds the target of a request. With kMatch, the route's `id` is that of a target. kOffline: the
  // owner has died, and no wider prefix matches. `name` is a name of ReadHost().
  Route Find(std::string_view name, std::string_view target, const LocalAddress& local) const;
  // Returns the target with an id. A target keeps its id until the reserved prefixes change or the
  // routes follow another PortState. Ids are below target_limit(), and are reused.
  const Target& target(uint32_t id) const {
    return targets_[id / kTargetsPerChunk][id % kTargetsPerChunk];
  }
  size_t target_limit() const { return targets_.size() * kTargetsPerChunk; }

  size_t CountOwners(const UrlPrefix& prefix) const;
  // Returns how many servers share the plain port (without a prefix) on which a server of this
  // engine listens. Looks at every target.
  size_t CountOwners(uint32_t server_id) const;

  // The server whose certificate is used for a host name.
  struct HostOwner {
    bool is_there = false;
    // The owner has registered the name or a subdomain wildcard, not a wildcard for any host.
    bool is_named = false;
    bool is_preferred = false;  // The owner is the preferred server.
    uint64_t member = 0;        // 0 = this engine.
    uint32_t server_id = 0;
  };
  // Finds an owner that has registered this host: the server of this engine with `preferred_id` if
  // it has, otherwise another one of this engine, otherwise another member.
  HostOwner FindHost(std::string_view name, const LocalAddress& local,
                     uint32_t preferred_id = 0) const;

  // True if only some addresses of the port use TLS. Then every prefix is bound to one address.
  bool is_mixed() const { return is_mixed_; }
  // One address of a mixed port.
  struct Place {
    std::array<uint8_t, 16> ip{};
    bool is_secure = false;
    // The other members with a prefix bound to this address, in order of registration.
    std::vector<uint64_t> peers;
  };
  // Finds the place of an address on a mixed port; nullptr = nothing is registered there.
  const Place* FindPlace(const LocalAddress& local) const;
  size_t target_count() const { return target_count_; }

 private:
  friend class PortRouting;

  static constexpr size_t kTargetsPerChunk = 32;

  uint16_t port_ = 0;
  bool has_idle_ = false;
  bool is_shared_ = false;
  UrlPrefixTable table_;
  UrlPrefixTable offline_;
  SharedChunks<std::array<Target, kTargetsPerChunk>> targets_;
  size_t target_count_ = 0;
  std::vector<uint64_t> peers_;
  std::vector<uint32_t> local_servers_;
  uint64_t departures_ = 0;
  bool is_mixed_ = false;
  // By address; kept even if all addresses use the same protocol.
  SortedChunks<Place, &Place::ip> places_;
};

}  // namespace httpsys::sharing
