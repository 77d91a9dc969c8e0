#include "sharing/port_routes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace httpsys::sharing {
namespace {

template <typename Item>
void AddOnce(std::vector<Item>* list, Item item) {
  if (std::find(list->begin(), list->end(), item) == list->end()) list->push_back(item);
}

}  // namespace

std::shared_ptr<const PortRoutes> PortRoutes::Create(uint16_t port, uint64_t self,
                                                     const PortState& state,
                                                     const std::vector<UrlPrefix>& reserved,
                                                     bool has_idle) {
  auto routes = std::make_shared<PortRoutes>();
  routes->port_ = port;
  // What it is asked for is never its own.
  routes->is_shared_ = routes->has_idle_ = has_idle;
  std::set<std::pair<uint64_t, uint32_t>> servers;
  // The table is sorted: what comes in its order goes to its end.
  state.entries().ForEachByKey([&](const StateEntry& there) {
    const peer::Entry& entry = there.entry;
    auto& targets = routes->targets_;
    if (there.is_offline()) {
      routes->is_shared_ = routes->has_offline_ = true;
      (void)routes->offline_.Add(there.parsed, 0);
      return;
    }
    // One that is there already has another owner of the same queue.
    const uint32_t id =
        routes->table_.AddOrFind(there.parsed, static_cast<uint32_t>(targets.size()));
    if (id == targets.size()) targets.emplace_back();
    Target& target = targets[id];
    if (there.is_absent()) {
      target.absent_until_ms = there.absent_until_ms;
      routes->is_shared_ = true;
      return;
    }
    const bool is_own = entry.member == self;
    target.has_peers |= !is_own;
    target.owners.push_back({is_own ? 0 : entry.member, entry.server_id, entry.prefix_id,
                             (entry.flags & peer::kEntryPlain) != 0,
                             (entry.flags & peer::kEntryFed) != 0});
  });
  // In the order in which they came: connections that any of them may take are the first one's.
  for (const StateEntry& there : state.entries()) {
    const uint64_t member = there.entry.member;
    if (there.is_absent() || !servers.insert({member, there.entry.server_id}).second) continue;
    if (member == self) {
      routes->local_servers_.push_back(there.entry.server_id);
    } else {
      AddOnce(&routes->peers_, member);
    }
  }
  routes->places_ = PlacesOf(self, state);
  for (const UrlPrefix& prefix : reserved) (void)routes->table_.AddReservation(prefix);
  // Also when only others are left: connections to one that leaves are theirs.
  const bool has_others = servers.size() > 1 || routes->has_peers();
  routes->is_shared_ |= !reserved.empty() || (has_others && !routes->IsOneCluster());
  return routes;
}

// Whoever is there would serve what this engine is given in the same way.
bool PortRoutes::IsOneCluster() const {
  if (targets_.size() != 1 || local_servers_.size() != 1) return false;
  const auto& owners = targets_[0].owners;
  return std::any_of(owners.begin(), owners.end(), [](const Owner& owner) {
    return owner.member == 0 && owner.is_plain && owner.is_fed;
  });
}

std::vector<PortRoutes::Place> PortRoutes::PlacesOf(uint64_t self, const PortState& state) {
  std::vector<Place> places;
  const auto is_secure = [](const StateEntry& there) { return there.parsed.is_https; };
  const PortEntries& entries = state.entries();
  const bool is_mixed = std::any_of(entries.begin(), entries.end(), is_secure) &&
                        !std::all_of(entries.begin(), entries.end(), is_secure);
  if (!is_mixed) return places;
  for (const StateEntry& there : entries) {
    // Only an absent one can be bound to none.
    if (there.parsed.host_kind != HostKind::kIpBound) continue;
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const Place& place) { return place.ip == there.parsed.ip; });
    if (place == places.end()) {
      place = places.insert(place, {there.parsed.ip, there.parsed.is_https, {}});
    }
    // What is left of an owner that has gone says least.
    if (there.is_absent()) continue;
    place->is_secure = there.parsed.is_https;
    const Owner owner{there.entry.member == self ? 0 : there.entry.member, there.entry.server_id,
                      there.entry.prefix_id};
    const bool is_known =
        std::any_of(place->owners.begin(), place->owners.end(), [&](const Owner& other) {
          return other.member == owner.member && other.server_id == owner.server_id;
        });
    if (!is_known) place->owners.push_back(owner);
  }
  return places;
}

const PortRoutes::Place* PortRoutes::FindPlace(const LocalAddress& local) const {
  if (!local.is_ip) return nullptr;
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return place.ip == local.ip; });
  return found == places_.end() ? nullptr : &*found;
}

Route PortRoutes::Find(std::string_view name, std::string_view target,
                       const LocalAddress& local) const {
  Route route = table_.Match(name, target, local);
  const bool is_nobodys =
      route.status == RouteStatus::kNotFound || route.status == RouteStatus::kUnknownHost;
  if (has_offline_ && is_nobodys &&
      offline_.Match(name, target, local).status == RouteStatus::kMatch) {
    route.status = RouteStatus::kOffline;
  }
  return route;
}

PortRoutes::HostOwner PortRoutes::FindHost(std::string_view name, const LocalAddress& local,
                                           uint32_t preferred_id) const {
  HostOwner found;
  for (const uint32_t id : table_.IdsOf(name, local, &found.is_named)) {
    for (const Owner& owner : targets_[id].owners) {
      const bool is_preferred =
          preferred_id != 0 && owner.member == 0 && owner.server_id == preferred_id;
      const bool is_no_better = found.is_there && (found.member == 0 || owner.member != 0);
      if (is_no_better && !is_preferred) continue;
      found.is_there = true;
      found.is_preferred = is_preferred;
      if (is_preferred) {
        found.member = 0;
        found.server_id = preferred_id;
        return found;
      }
      found.member = owner.member;
      found.server_id = owner.server_id;
    }
  }
  return found;
}

}  // namespace httpsys::sharing
