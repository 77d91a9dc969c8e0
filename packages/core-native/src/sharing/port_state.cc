#include "sharing/port_state.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <unordered_set>
#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {
namespace {

// Returns the address of the listening socket for a registration of a whole port.
std::string AddressOf(const UrlPrefix& prefix, uint8_t flags) {
  const bool is_ipv4 = IsIpv4(prefix, flags);
  if (prefix.host_kind != HostKind::kIpBound) return is_ipv4 ? "0.0.0.0" : "::";
  char text[INET6_ADDRSTRLEN] = "";
  const uint8_t* bytes = prefix.ip.data();
  // An IPv4-mapped address ends with the IPv4 address.
  if (is_ipv4) bytes += prefix.ip.size() - sizeof(in_addr);
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
  return text;
}

}  // namespace

std::optional<Conflict> PortState::Check(uint64_t member, const peer::Register& wanted) const {
  if (entries_.size() + wanted.prefixes.size() > limits::kEntriesMax &&
      entries_.size() + EntriesOf(member, wanted).size() > limits::kEntriesMax) {
    return Conflict{ENOSPC, 0, {}, {}, ConflictReason::kEntries};
  }
  return PortRules(entries_, port_, member, wanted).Check();
}

std::optional<Conflict> PortState::CheckTerms(uint64_t member,
                                              const peer::Register& changed) const {
  return PortRules(entries_, port_, member, changed).CheckTerms();
}

std::vector<peer::Entry> PortState::EntriesOf(uint64_t member, const peer::Register& wanted) const {
  std::vector<peer::Entry> result;
  for (const peer::PrefixItem& item : wanted.prefixes) {
    const StateEntry* there = entries_.Find(member, wanted.server_id, item.id);
    const bool is_there = there != nullptr && there->entry.prefix == item.text &&
                          there->entry.terms == item.terms && !there->is_absent() &&
                          ((there->entry.flags ^ wanted.flags) & peer::kEntryCached) == 0;
    if (is_there) continue;
    result.push_back(
        {member, wanted.server_id, item.id, wanted.flags, 0, wanted.queue, item.text, item.terms});
  }
  return result;
}

bool PortState::AddMember(const peer::Member& member) {
  const bool is_full = members_.size() >= limits::kMembersMax && !members_.contains(member.id);
  if (member.id == 0 || is_full) return false;
  members_[member.id] = member;
  return true;
}

// Returns true if a member other than `except` serves the prefix.
bool PortState::IsServed(const std::string& key, uint64_t except) const {
  return entries_.FindKey(key, [=](const StateEntry& there) {
    return !there.is_absent() && there.entry.member != except;
  }) != nullptr;
}

std::vector<peer::EntryGone> PortState::RemoveMember(uint64_t id, uint64_t now_ms) {
  departures_ += members_.erase(id);
  std::vector<const StateEntry*> left;
  entries_.ForEachOfMember(id, [&](const StateEntry& there) {
    if (!there.is_absent()) left.push_back(&there);
  });
  std::sort(left.begin(), left.end(), [](const StateEntry* one, const StateEntry* other) {
    return one->order < other->order;
  });
  std::vector<peer::EntryGone> removed;
  const auto remove = [&](const StateEntry* there) {
    removed.push_back({there->entry.member, there->entry.server_id, there->entry.prefix_id});
    entries_.Remove(there);
  };
  const auto is_absent = [](const StateEntry& there) { return there.is_absent(); };
  std::unordered_set<std::string> kept;
  for (const StateEntry* there : left) {
    const std::string key = there->key;
    if (IsServed(key, id) || !kept.insert(key).second) {
      remove(there);
      continue;
    }
    while (const StateEntry* older = entries_.FindKey(key, is_absent)) remove(older);
    entries_.SetAbsent(there, now_ms + limits::kOfflineMs, true);
  }
  return removed;
}

bool PortState::AddEntry(const peer::Entry& entry, uint64_t now_ms) {
  StateEntry added;
  added.entry = entry;
  if (!ParseEntry(port_, entry.prefix, &added)) return false;
  if (entry.absent_ms != 0) {
    added.absent_until_ms = now_ms + std::min(entry.absent_ms, limits::kAbsentMsMax);
  }
  if (const StateEntry* there = entries_.Find(entry.member, entry.server_id, entry.prefix_id)) {
    entries_.Remove(there);
  }
  const auto is_absent = [](const StateEntry& there) { return there.is_absent(); };
  while (const StateEntry* there = entries_.FindKey(added.key, is_absent)) entries_.Remove(there);
  if (entries_.size() >= limits::kEntriesMax) return false;
  entries_.Add(std::move(added));
  return true;
}

void PortState::RemoveEntry(const peer::EntryGone& gone) {
  const StateEntry* there = entries_.Find(gone.member, gone.server_id, gone.prefix_id);
  if (there != nullptr) entries_.Remove(there);
}

std::optional<peer::EntryGone> PortState::RemoveOwner(uint64_t member, const std::string& prefix) {
  const StateEntry* found = nullptr;
  entries_.ForEachOfMember(member, [&](const StateEntry& there) {
    if (!there.is_absent() && there.entry.prefix == prefix) found = &there;
  });
  if (found == nullptr) return std::nullopt;
  const peer::EntryGone gone{member, found->entry.server_id, found->entry.prefix_id};
  entries_.Remove(found);
  return gone;
}

bool PortState::HasPrefix(const std::string& text) const {
  StateEntry candidate;
  return ParseEntry(port_, text, &candidate) && HasKey(candidate.key);
}

std::vector<peer::EntryGone> PortState::RemoveAbsent(const peer::Register& registered) {
  const auto is_absent = [](const StateEntry& there) { return there.is_absent(); };
  std::vector<peer::EntryGone> removed;
  for (const peer::PrefixItem& item : registered.prefixes) {
    StateEntry candidate;
    if (!ParseEntry(port_, item.text, &candidate)) continue;
    while (const StateEntry* there = entries_.FindKey(candidate.key, is_absent)) {
      removed.push_back({there->entry.member, there->entry.server_id, there->entry.prefix_id});
      entries_.Remove(there);
    }
  }
  return removed;
}

bool PortState::IsExpected(const std::string& key, uint64_t until_ms,
                           const IsBelieved& is_believed) const {
  // Tolerance for `until_ms`: the same absence, sent by another member, ends a little later here.
  constexpr uint64_t kSlackMs = 100;
  const auto is_expected = [&](const StateEntry& there) {
    if (!there.is_absent()) return is_believed(there);
    return !there.is_offline() || there.absent_until_ms + kSlackMs >= until_ms;
  };
  return entries_.FindKey(key, is_expected) != nullptr;
}

std::vector<StateEntry> PortState::EntriesOfServer(uint64_t member, uint32_t server_id) const {
  std::vector<StateEntry> result;
  entries_.ForEachOfServer(member, server_id,
                           [&](const StateEntry& there) { result.push_back(there); });
  return result;
}

std::vector<StateEntry> PortState::EntriesOfMember(uint64_t member) const {
  std::vector<StateEntry> result;
  entries_.ForEachOfMember(member, [&](const StateEntry& there) { result.push_back(there); });
  return result;
}

PortState::Expired PortState::Expire(uint64_t now_ms) {
  Expired expired;
  for (const StateEntry* there : entries_.index().DueAt(now_ms)) {
    if (there->is_offline()) {
      expired.gone.push_back({there->entry.member, there->entry.server_id, there->entry.prefix_id});
      entries_.Remove(there);
      continue;
    }
    entries_.SetAbsent(there, now_ms + limits::kOfflineMs, true);
    peer::Entry told = there->entry;
    told.absent_ms = limits::kOfflineMs;
    expired.offline.push_back(std::move(told));
  }
  return expired;
}

std::vector<std::string> PortState::FedAddresses() const {
  std::map<uint64_t, std::string> found;  // By the order of the first entry.
  for (const auto& [kind, addresses] : entries_.index().kinds()) {
    if (kind.is_absent || (kind.flags & peer::kEntryFed) == 0) continue;
    for (const auto& [ip, servers] : addresses) {
      const StateEntry* first = servers.begin()->second.begin()->second;
      for (const auto& [server, entries] : servers) {
        if (entries.begin()->first < first->order) first = entries.begin()->second;
      }
      found.emplace(first->order, AddressOf(first->parsed, first->entry.flags));
    }
  }
  std::vector<std::string> addresses;
  for (const auto& [order, address] : found) {
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(address);
    }
  }
  return addresses;
}

void PortState::Clear() {
  departures_ += members_.size();
  members_.clear();
  entries_.Clear();
}

}  // namespace httpsys::sharing
