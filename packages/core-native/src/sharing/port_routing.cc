#include "sharing/port_routing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace httpsys::sharing {

void PortRouting::Reserve(std::vector<UrlPrefix> reserved) {
  reserved_ = std::move(reserved);
  last_.reset();
}

std::shared_ptr<const PortRoutes> PortRouting::Update(PortEntries* entries, bool has_idle,
                                                      uint64_t departures) {
  PortEntries::Changes changes = entries->TakeChanges();
  const EntryIndex& index = entries->index();
  const bool is_new = changes.is_all || last_ == nullptr;
  const auto next = is_new ? std::make_shared<PortRoutes>() : std::make_shared<PortRoutes>(*last_);
  if (is_new) changes = BeginAnew(*entries, next.get());
  for (const auto& [key, prefix] : changes.prefixes) {
    UpdatePrefix(key, prefix, *entries, next.get());
    if (prefix.host_kind == HostKind::kIpBound) UpdatePlace(prefix.ip, index, next.get());
  }
  if (is_new || server_changes_ != index.server_changes()) UpdateServers(index, next.get());
  server_changes_ = index.server_changes();
  next->is_mixed_ = index.HasScheme(true) && index.HasScheme(false);
  next->has_idle_ = has_idle;
  next->departures_ = departures;
  // A server that leaves keeps connections for a while, whose requests may belong to others, even
  // if only others are left. Requests to a server without a prefix (has_idle) never belong to it.
  const bool has_others = index.server_count() > 1 || next->has_peers();
  next->is_shared_ = has_idle || index.has_absent() || !reserved_.empty() ||
                     (has_others && !IsOneCluster(index, *next));
  last_ = next;
  return next;
}

// Begins routes from nothing. Returns all prefixes as changed.
PortEntries::Changes PortRouting::BeginAnew(const PortEntries& entries, PortRoutes* next) {
  free_ids_.clear();
  next->port_ = port_;
  for (const UrlPrefix& prefix : reserved_) (void)next->table_.AddReservation(prefix);
  PortEntries::Changes all;
  for (const StateEntry& there : entries) all.prefixes.emplace(TableKeyOf(there), there.parsed);
  return all;
}

void PortRouting::UpdatePrefix(const std::string& table_key, const UrlPrefix& prefix,
                               const PortEntries& entries, PortRoutes* next) {
  Target target;
  bool is_there = false;
  bool is_offline = false;
  entries.ForEachOfTableKey(table_key, [&](const StateEntry& there) {
    const peer::Entry& entry = there.entry;
    if (there.is_offline()) {
      is_offline = true;
      return;
    }
    is_there = true;
    if (there.is_absent()) {
      target.absent_until_ms = there.absent_until_ms;
      return;
    }
    const bool is_own = entry.member == self_;
    target.has_peers |= !is_own;
    // Further owners of the prefix share the queue of the first one.
    target.owners.push_back({is_own ? 0 : entry.member, entry.server_id, entry.prefix_id,
                             (entry.flags & peer::kEntryPlain) != 0,
                             (entry.flags & peer::kEntryFed) != 0,
                             (entry.flags & peer::kEntryCached) != 0});
  });
  if (is_there) {
    SetTarget(prefix, std::move(target), next);
  } else {
    RemoveTarget(prefix, next);
  }
  if (is_offline) {
    (void)next->offline_.Add(prefix, 0);
  } else {
    (void)next->offline_.Remove(prefix);
  }
}

void PortRouting::SetTarget(const UrlPrefix& prefix, Target target, PortRoutes* next) {
  std::optional<uint32_t> id = next->table_.IdOf(prefix);
  if (!id) {
    if (free_ids_.empty()) {
      const auto first = static_cast<uint32_t>(next->target_limit());
      (void)next->targets_.Insert(next->targets_.size());
      // In reverse order, so that the lowest id is used first.
      for (uint32_t i = PortRoutes::kTargetsPerChunk; i-- > 0;) free_ids_.push_back(first + i);
    }
    id = free_ids_.back();
    free_ids_.pop_back();
    (void)next->table_.Add(prefix, *id);
    ++next->target_count_;
  }
  next->targets_.Edit(*id / PortRoutes::kTargetsPerChunk)[*id % PortRoutes::kTargetsPerChunk] =
      std::move(target);
}

void PortRouting::RemoveTarget(const UrlPrefix& prefix, PortRoutes* next) {
  const std::optional<uint32_t> id = next->table_.IdOf(prefix);
  if (!id) return;
  (void)next->table_.Remove(prefix);
  next->targets_.Edit(*id / PortRoutes::kTargetsPerChunk)[*id % PortRoutes::kTargetsPerChunk] = {};
  free_ids_.push_back(*id);
  --next->target_count_;
}

// Lists servers and members in order of arrival: the first one gets connections that any may take.
void PortRouting::UpdateServers(const EntryIndex& index, PortRoutes* next) const {
  std::set<uint64_t> peers;
  next->peers_.clear();
  next->local_servers_.clear();
  for (const auto& [member, server_id] : index.ServersInOrder()) {
    if (member == self_) {
      next->local_servers_.push_back(server_id);
    } else if (peers.insert(member).second) {
      next->peers_.push_back(member);
    }
  }
}

// Updates the protocol and the members of one address.
void PortRouting::UpdatePlace(const EntryIndex::Address& ip, const EntryIndex& index,
                              PortRoutes* next) const {
  bool is_there = false;
  Place place{ip, false, {}};
  std::map<uint64_t, uint64_t> since;  // The order of the first entry at the address, by member.
  for (const bool is_absent : {true, false}) {
    for (const auto& [kind, addresses] : index.kinds()) {
      if (!kind.is_bound || kind.is_absent != is_absent) continue;
      const auto found = addresses.find(ip);
      if (found == addresses.end()) continue;
      is_there = true;
      // Each iteration overwrites the one before: absent owners come first, then present ones, in
      // each case TLS last. So TLS of a present owner has precedence.
      place.is_secure = kind.is_https;
      if (is_absent) continue;
      for (const auto& [server, entries] : found->second) {
        const uint64_t first = entries.begin()->first;
        const auto [known, is_new] = since.try_emplace(server.first, first);
        known->second = std::min(known->second, first);
      }
    }
  }
  since.erase(self_);
  std::map<uint64_t, uint64_t> in_order;
  for (const auto& [member, order] : since) in_order.emplace(order, member);
  for (const auto& [order, member] : in_order) place.peers.push_back(member);
  auto& places = next->places_;
  const auto at = places.LowerBound(ip);
  const Place* last = places.At(at);
  const bool is_known = last != nullptr && last->ip == ip;
  if (is_there && is_known) {
    places.Edit(at) = std::move(place);
  } else if (is_there) {
    (void)places.Insert(at, std::move(place));
  } else if (is_known) {
    places.Erase(at);
  }
}

// Returns true if only workers of one cluster are on the port: any of them may serve a connection.
bool PortRouting::IsOneCluster(const EntryIndex& index, const PortRoutes& routes) const {
  if (routes.target_count() != 1 || routes.local_servers().size() != 1) return false;
  constexpr uint8_t kWorker = peer::kEntryPlain | peer::kEntryFed;
  const EntryIndex::ServerId own{self_, routes.local_servers()[0]};
  for (const auto& [kind, addresses] : index.kinds()) {
    if (kind.is_absent || (kind.flags & kWorker) != kWorker) continue;
    const bool is_one = std::any_of(addresses.begin(), addresses.end(),
                                    [&](const auto& item) { return item.second.contains(own); });
    if (is_one) return true;
  }
  return false;
}

}  // namespace httpsys::sharing
