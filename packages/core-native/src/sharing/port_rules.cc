#include "sharing/port_rules.h"

#include <algorithm>
#include <cerrno>

namespace httpsys::sharing {
namespace {

// Returns true if two listen(2) on these addresses would conflict; wildcards conflict with all.
bool OverlapsAsPort(const UrlPrefix& one, uint8_t one_flags, const UrlPrefix& other,
                    uint8_t other_flags) {
  const bool is_one_bound = one.host_kind == HostKind::kIpBound;
  const bool is_other_bound = other.host_kind == HostKind::kIpBound;
  if (is_one_bound && is_other_bound) return one.ip == other.ip;
  // An IPv4 wildcard does not conflict with IPv6 addresses.
  if (is_one_bound) return (other_flags & peer::kEntryIpv4) == 0 || IsIpv4(one, one_flags);
  if (is_other_bound) return (one_flags & peer::kEntryIpv4) == 0 || IsIpv4(other, other_flags);
  return true;
}

// Returns true if a new registration has this queue mode. The mode has no meaning in a registration
// that is sent again: its queue may have other owners by then, or none yet.
bool IsMode(const peer::Register& wanted, QueueMode mode) {
  return wanted.again == peer::kFirstTime && wanted.queue_mode == static_cast<uint8_t>(mode);
}

bool SharesQueue(const peer::Entry& there, const peer::Register& wanted) {
  return !wanted.queue.empty() && there.queue == wanted.queue &&
         !IsMode(wanted, QueueMode::kCreate);
}

// Returns true for workers of one cluster: different members that listen on the same whole port.
bool ShareAPort(const StateEntry& there, uint64_t member, const peer::Register& wanted,
                const std::string& key) {
  const bool is_same_address =
      there.key == key && ((there.entry.flags ^ wanted.flags) & peer::kEntryIpv4) == 0;
  return is_same_address && there.entry.member != member && SharesQueue(there.entry, wanted);
}

// Returns why two servers cannot share a prefix.
ConflictReason ReasonOf(const peer::Entry& there, const peer::Register& wanted) {
  if (there.queue.empty() || wanted.queue.empty()) return ConflictReason::kPrefix;
  return there.queue == wanted.queue ? ConflictReason::kQueueMode : ConflictReason::kOtherQueue;
}

// Returns true if the certificate rules are equal. Empty ones are unknown, and equal no others.
bool HaveSameTerms(const std::string& one, const std::string& other) {
  return !one.empty() && one == other;
}

// Returns true if the prefixes are served on one socket and only one uses TLS. Such prefixes
// conflict, because TLS begins before a request shows which prefix it is for.
bool MeetOnOneSocket(const UrlPrefix& one, const UrlPrefix& other) {
  if (one.is_https == other.is_https) return false;
  const bool are_bound = one.host_kind == HostKind::kIpBound && other.host_kind == one.host_kind;
  return !are_bound || one.ip == other.ip;
}

}  // namespace

PortRules::PortRules(const PortEntries& entries, uint16_t port, uint64_t member,
                     const peer::Register& wanted)
    : entries_(entries), member_(member), wanted_(wanted) {
  candidates_.reserve(wanted.prefixes.size());
  for (const peer::PrefixItem& item : wanted.prefixes) {
    StateEntry& candidate = candidates_.emplace_back().emplace();
    if (ParseEntry(port, item.text, &candidate)) {
      candidate.entry.terms = item.terms;
      keys_.insert(candidate.key);
    } else {
      candidates_.back().reset();
    }
  }
}

std::optional<Conflict> PortRules::Check() {
  if (IsMode(wanted_, QueueMode::kAttach) && !entries_.index().HasQueue(wanted_.queue)) {
    return Conflict{ENOENT, 0, wanted_.queue};
  }
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (auto conflict = CheckOne(i)) return conflict;
  }
  return std::nullopt;
}

std::optional<Conflict> PortRules::CheckOne(size_t index) {
  const peer::PrefixItem& item = wanted_.prefixes[index];
  if (!candidates_[index]) return Conflict{EINVAL, 0, item.text};
  const StateEntry& candidate = *candidates_[index];
  if (const std::string* other = FindOwnScheme(index)) {
    return Conflict{EADDRINUSE, member_, *other, wanted_.queue, ConflictReason::kScheme};
  }
  if (const auto [there, reason] = FindConflict(candidate); there != nullptr) {
    return Conflict{EADDRINUSE, there->entry.member, there->entry.prefix, there->entry.queue,
                    reason};
  }
  const StateEntry* there = FindOtherTerms(candidate);
  // An existing entry is not refused because of its terms (certificate rules).
  if (there != nullptr && !IsThere(item)) return TermsConflict(*there, item.text);
  return std::nullopt;
}

std::optional<Conflict> PortRules::CheckTerms() {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!candidates_[i]) continue;
    const StateEntry* there = FindOtherTerms(*candidates_[i]);
    if (there != nullptr) return TermsConflict(*there, wanted_.prefixes[i].text);
  }
  return std::nullopt;
}

PortRules::Place PortRules::PlaceOf(const UrlPrefix& prefix) {
  return {prefix.is_https, prefix.host_kind == HostKind::kIpBound, prefix.ip};
}

// Returns an earlier prefix of the same registration that cannot share a socket with this one (see
// MeetOnOneSocket()), or nullptr.
const std::string* PortRules::FindOwnScheme(size_t index) {
  const UrlPrefix& prefix = candidates_[index]->parsed;
  if (!places_.try_emplace(PlaceOf(prefix), index).second) return nullptr;
  for (const auto& [place, first] : places_) {
    if (MeetOnOneSocket(candidates_[first]->parsed, prefix)) return &wanted_.prefixes[first].text;
  }
  return nullptr;
}

PortRules::Found PortRules::FindConflict(const StateEntry& candidate) {
  Found found;
  if ((wanted_.flags & peer::kEntryPlain) != 0) {
    // The result for a whole port is not cached: it depends on the candidate's key, too
    // (ShareAPort()).
    found = FindByPlace(candidate);
  } else {
    const auto [known, is_new] = by_place_.try_emplace(PlaceOf(candidate.parsed));
    if (is_new) known->second = FindByPlace(candidate);
    found = known->second;
  }
  if (found.there != nullptr) return found;
  found.there = entries_.FindKey(candidate.key, [&](const StateEntry& there) {
    return !there.is_absent() && !there.IsOf(member_, wanted_.server_id) &&
           !SharesQueue(there.entry, wanted_);
  });
  if (found.there != nullptr) found.reason = ReasonOf(found.there->entry, wanted_);
  return found;
}

// Returns why an entry that is not absent conflicts with the candidate, for any path and host name.
ConflictReason PortRules::ReasonAt(const StateEntry& there, const StateEntry& candidate) const {
  const bool is_own = there.IsOf(member_, wanted_.server_id);
  const bool are_plain = (there.entry.flags & wanted_.flags & peer::kEntryPlain) != 0;
  if (!is_own && (there.entry.flags & peer::kEntryExclusive) != 0) {
    return ConflictReason::kExclusiveThere;
  }
  if (!is_own && (wanted_.flags & peer::kEntryExclusive) != 0) {
    return ConflictReason::kExclusiveWanted;
  }
  if (MeetOnOneSocket(there.parsed, candidate.parsed)) return ConflictReason::kScheme;
  const bool meet_as_ports =
      !is_own && are_plain &&
      OverlapsAsPort(there.parsed, there.entry.flags, candidate.parsed, wanted_.flags) &&
      !ShareAPort(there, member_, wanted_, candidate.key);
  return meet_as_ports ? ConflictReason::kPlain : ConflictReason::kNone;
}

bool PortRules::ArePlain(const EntryIndex::Kind& kind) const {
  return (kind.flags & wanted_.flags & peer::kEntryPlain) != 0;
}

bool PortRules::IsExclusive(const EntryIndex::Kind& kind) const {
  return ((kind.flags | wanted_.flags) & peer::kEntryExclusive) != 0;
}

// Returns the first entry of a kind and address that conflicts with the candidate, or nullptr.
// Looks at one entry of each server (for whole ports, at all): all its entries conflict or none.
const StateEntry* PortRules::FirstInTheWay(const EntryIndex::Kind& kind,
                                           const EntryIndex::Servers& servers,
                                           const StateEntry& candidate) const {
  const bool are_plain = ArePlain(kind);
  const UrlPrefix& prefix = servers.begin()->second.begin()->second->parsed;
  if (!are_plain && !IsExclusive(kind) && !MeetOnOneSocket(prefix, candidate.parsed)) {
    return nullptr;
  }
  const StateEntry* first = nullptr;
  for (const auto& [server, entries] : servers) {
    for (const auto& [order, there] : entries) {
      const bool is_in_the_way = ReasonAt(*there, candidate) != ConflictReason::kNone;
      if (is_in_the_way && (first == nullptr || order < first->order)) first = there;
      if (is_in_the_way || !are_plain) break;
    }
  }
  return first;
}

PortRules::Found PortRules::FindByPlace(const StateEntry& candidate) const {
  const EntryIndex& index = entries_.index();
  const UrlPrefix& prefix = candidate.parsed;
  const bool is_bound = prefix.host_kind == HostKind::kIpBound;
  // Prefixes of one server conflict by their schemes only.
  const bool is_alone = index.HasOnly({member_, wanted_.server_id});
  const StateEntry* first = nullptr;
  for (const auto& [kind, addresses] : index.kinds()) {
    if (kind.is_absent) break;
    const auto look_at = [&, &kind = kind](const auto& item) {
      const StateEntry* found = FirstInTheWay(kind, item.second, candidate);
      if (found != nullptr && (first == nullptr || found->order < first->order)) first = found;
    };
    const bool meet_anywhere = !is_alone && (ArePlain(kind) || IsExclusive(kind));
    if (!meet_anywhere && kind.is_https == prefix.is_https) continue;
    if (meet_anywhere || !kind.is_bound || !is_bound) {
      std::for_each(addresses.begin(), addresses.end(), look_at);
    } else if (const auto there = addresses.find(prefix.ip); there != addresses.end()) {
      look_at(*there);
    }
  }
  if (first == nullptr) return {};
  return {first, ReasonAt(*first, candidate)};
}

// Returns a prefix of another server that no ClientHello can distinguish from the candidate, and
// that has other rules for client certificates; or nullptr. Two servers of one queue that both have
// both prefixes are one application, and do not conflict: each answers all requests of the clients
// whose certificates it has requested.
const StateEntry* PortRules::FindOtherTerms(const StateEntry& candidate) {
  if (candidate.hello_key.empty()) return nullptr;
  for (const Other& other : OthersOf(candidate)) {
    if (other.unwanted != nullptr) return other.unwanted;
    const peer::Entry& owner = other.first->entry;
    const bool has_both = entries_.FindKey(candidate.key, [&](const StateEntry& there) {
      return there.IsOf(owner.member, owner.server_id) && there.entry.queue == owner.queue &&
             !there.is_absent();
    }) != nullptr;
    if (!has_both) return other.first;
  }
  return nullptr;
}

const std::vector<PortRules::Other>& PortRules::OthersOf(const StateEntry& candidate) {
  const auto [known, is_new] = others_.try_emplace({candidate.hello_key, candidate.entry.terms});
  std::vector<Other>& others = known->second;
  const EntryIndex::ByTerms* there_are = entries_.index().FindHello(candidate.hello_key);
  if (!is_new || there_are == nullptr) return others;
  for (const auto& [terms, sharers] : *there_are) {
    if (HaveSameTerms(terms, candidate.entry.terms)) continue;
    for (const auto& [sharer, entries] : sharers) {
      const auto& [member, server_id, queue] = sharer;
      if (member == member_ && server_id == wanted_.server_id) continue;
      const bool is_one_queue = !wanted_.queue.empty() && queue == wanted_.queue;
      const auto unwanted = std::find_if(entries.begin(), entries.end(), [&](const auto& item) {
        return !is_one_queue || !keys_.contains(item.second->key);
      });
      others.push_back(
          {entries.begin()->second, unwanted == entries.end() ? nullptr : unwanted->second});
    }
  }
  std::sort(others.begin(), others.end(), [](const Other& one, const Other& other) {
    return one.first->order < other.first->order;
  });
  return others;
}

bool PortRules::IsThere(const peer::PrefixItem& item) const {
  const StateEntry* there = entries_.Find(member_, wanted_.server_id, item.id);
  return there != nullptr && there->entry.prefix == item.text && !there->is_absent();
}

Conflict PortRules::TermsConflict(const StateEntry& there, const std::string& text) const {
  return {EADDRINUSE,        there.entry.member,     there.entry.prefix,
          there.entry.queue, ConflictReason::kTerms, text};
}

}  // namespace httpsys::sharing
