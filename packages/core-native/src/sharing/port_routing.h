#pragma once
// Keeps the routes of a port up to date with its registrations.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sharing/port_entries.h"
#include "sharing/port_routes.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// Each version of the routes is a changed copy of the last one. Thread: one at a time.
class PortRouting {
 public:
  // `self` is this engine's id.
  PortRouting(uint16_t port, uint64_t self) : port_(port), self_(self) {}

  // Sets the reserved prefixes: until one is registered, its requests are rejected.
  void Reserve(std::vector<UrlPrefix> reserved);
  // Returns the routes for the present entries, and takes their changes. `entries` may be another
  // object than in the last call. `has_idle`: a server of this engine listens without any prefix.
  // `departures`: how many members the port has lost so far.
  std::shared_ptr<const PortRoutes> Update(PortEntries* entries, bool has_idle,
                                           uint64_t departures = 0);

 private:
  using Owner = PortRoutes::Owner;
  using Place = PortRoutes::Place;
  using Target = PortRoutes::Target;

  PortEntries::Changes BeginAnew(const PortEntries& entries, PortRoutes* next);
  void UpdatePrefix(const std::string& table_key, const UrlPrefix& prefix,
                    const PortEntries& entries, PortRoutes* next);
  void SetTarget(const UrlPrefix& prefix, Target target, PortRoutes* next);
  void RemoveTarget(const UrlPrefix& prefix, PortRoutes* next);
  void UpdateServers(const EntryIndex& index, PortRoutes* next) const;
  void UpdatePlace(const EntryIndex::Address& ip, const EntryIndex& index, PortRoutes* next) const;
  bool IsOneCluster(const EntryIndex& index, const PortRoutes& routes) const;

  const uint16_t port_;
  const uint64_t self_;
  std::vector<UrlPrefix> reserved_;
  std::shared_ptr<const PortRoutes> last_;  // nullptr = the next version starts from nothing.
  uint64_t server_changes_ = 0;             // EntryIndex::server_changes() at the last update.
  std::vector<uint32_t> free_ids_;          // Ids of targets that are not in use.
};

}  // namespace httpsys::sharing
