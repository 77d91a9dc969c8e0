#include "sharing/port_state.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include "base/limits.h"
#include "url/url_path.h"

namespace httpsys::sharing {
namespace {

// What an IPv4 address begins with.
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
}

bool IsOf(const StateEntry& entry, uint64_t member, uint32_t server_id) {
  return entry.entry.member == member && entry.entry.server_id == server_id;
}

bool IsIpv4(const UrlPrefix& prefix, uint8_t flags) {
  if (prefix.host_kind != HostKind::kIpBound) return (flags & peer::kEntryIpv4) != 0;
  return std::equal(kMapped.begin(), kMapped.end(), prefix.ip.begin());
}

// Of a socket for a port that was registered as such.
std::string AddressOf(const UrlPrefix& prefix, uint8_t flags) {
  const bool is_ipv4 = IsIpv4(prefix, flags);
  if (prefix.host_kind != HostKind::kIpBound) return is_ipv4 ? "0.0.0.0" : "::";
  char text[INET6_ADDRSTRLEN] = "";
  const uint8_t* bytes = prefix.ip.data();
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? bytes + kMapped.size() : bytes, text,
            sizeof text);
  return text;
}

// As two listen(2) on a port: a wildcard address and any other are in each other's way.
bool OverlapsAsPort(const UrlPrefix& one, uint8_t one_flags, const UrlPrefix& other,
                    uint8_t other_flags) {
  const bool is_one_bound = one.host_kind == HostKind::kIpBound;
  const bool is_other_bound = other.host_kind == HostKind::kIpBound;
  if (is_one_bound && is_other_bound) return one.ip == other.ip;
  // An IPv4 wildcard leaves IPv6 addresses alone.
  if (is_one_bound) return (other_flags & peer::kEntryIpv4) == 0 || IsIpv4(one, one_flags);
  if (is_other_bound) return (one_flags & peer::kEntryIpv4) == 0 || IsIpv4(other, other_flags);
  return true;
}

// Whoever comes back after the coordinator has changed may find others in its queue, or nobody yet.
bool IsMode(const peer::Register& wanted, QueueMode mode) {
  return wanted.is_again == 0 && wanted.queue_mode == static_cast<uint8_t>(mode);
}

bool SharesQueue(const peer::Entry& there, const peer::Register& wanted) {
  return !wanted.queue.empty() && there.queue == wanted.queue &&
         !IsMode(wanted, QueueMode::kCreate);
}

// Workers of one cluster, each with the port as a whole: the same one, and in a process each.
bool ShareAPort(const StateEntry& there, uint64_t member, const peer::Register& wanted,
                const std::string& key) {
  const bool is_same_address =
      there.key == key && ((there.entry.flags ^ wanted.flags) & peer::kEntryIpv4) == 0;
  return is_same_address && there.entry.member != member && SharesQueue(there.entry, wanted);
}

// Of two that cannot have one prefix.
ConflictReason ReasonOf(const peer::Entry& there, const peer::Register& wanted) {
  if (there.queue.empty() || wanted.queue.empty()) return ConflictReason::kPrefix;
  return there.queue == wanted.queue ? ConflictReason::kQueueMode : ConflictReason::kOtherQueue;
}

// What a ClientHello says of the prefix that its connection is for: a host, or nothing but the
// address that it has come to.
std::string HelloKeyOf(const UrlPrefix& prefix) {
  if (!prefix.is_https) return {};
  const bool is_wildcard =
      prefix.host_kind == HostKind::kStrongWildcard || prefix.host_kind == HostKind::kWeakWildcard;
  const HostKind kind = is_wildcard ? HostKind::kWeakWildcard : prefix.host_kind;
  std::string key = {static_cast<char>('0' + static_cast<int>(kind)),
                     prefix.is_subdomain_wildcard ? '*' : '-'};
  key.append(prefix.ip.begin(), prefix.ip.end());
  return key.append(Folded(prefix.host));
}

// Whoever has told none may have any.
bool HaveSameTerms(const std::string& one, const std::string& other) {
  return !one.empty() && one == other;
}

// A connection speaks TLS or it does not, before its request tells whose it is.
bool MeetOnOneSocket(const UrlPrefix& one, const UrlPrefix& other) {
  if (one.is_https == other.is_https) return false;
  const bool are_bound = one.host_kind == HostKind::kIpBound && other.host_kind == one.host_kind;
  return !are_bound || one.ip == other.ip;
}

}  // namespace

void PortState::SetOffline(StateEntry* entry, uint64_t now_ms) {
  entry->entry.flags |= peer::kEntryOffline;
  entry->absent_until_ms = now_ms + limits::kOfflineMs;
}

bool PortState::Parse(const std::string& text, StateEntry* entry) const {
  UrlPrefix& parsed = entry->parsed;
  if (ParseUrlPrefix(text, &parsed) != PrefixError::kNone || parsed.port != port_) return false;
  entry->key = {parsed.is_https ? 's' : '-', static_cast<char>('0' + int(parsed.host_kind)),
                parsed.is_subdomain_wildcard ? '*' : '-'};
  entry->key.append(parsed.ip.begin(), parsed.ip.end());
  entry->key.append(Folded(parsed.host)).append(Folded(parsed.path));
  entry->hello_key = HelloKeyOf(parsed);
  return true;
}

// The prefix of another server that no ClientHello can tell from the candidate's, and whose clients
// are asked for certificates by other rules. Two servers of one queue that both have both prefixes
// are one application: each answers all requests of the clients that it has asked.
const StateEntry* PortState::FindOtherTerms(uint64_t member, const peer::Register& wanted,
                                            const StateEntry& candidate) const {
  if (candidate.hello_key.empty()) return nullptr;
  for (const StateEntry& there : entries_) {
    if (there.is_absent() || IsOf(there, member, wanted.server_id) ||
        there.hello_key != candidate.hello_key ||
        HaveSameTerms(there.entry.terms, candidate.entry.terms)) {
      continue;
    }
    const bool is_shared = !wanted.queue.empty() && there.entry.queue == wanted.queue &&
                           Has(there.entry, candidate.key) && Wants(wanted, there.key);
    if (!is_shared) return &there;
  }
  return nullptr;
}

bool PortState::Has(const peer::Entry& owner, const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const StateEntry& there) {
    return IsOf(there, owner.member, owner.server_id) && there.entry.queue == owner.queue &&
           there.key == key && !there.is_absent();
  });
}

bool PortState::Wants(const peer::Register& wanted, const std::string& key) const {
  return std::any_of(wanted.prefixes.begin(), wanted.prefixes.end(),
                     [&](const peer::PrefixItem& item) {
                       StateEntry other;
                       return Parse(item.text, &other) && other.key == key;
                     });
}

std::optional<PortState::Conflict> PortState::CheckTerms(uint64_t member,
                                                         const peer::Register& changed) const {
  for (const peer::PrefixItem& item : changed.prefixes) {
    StateEntry candidate;
    if (!Parse(item.text, &candidate)) continue;
    candidate.entry.terms = item.terms;
    if (const StateEntry* there = FindOtherTerms(member, changed, candidate)) {
      return Conflict{EADDRINUSE,         there->entry.member,    there->entry.prefix,
                      there->entry.queue, ConflictReason::kTerms, item.text};
    }
  }
  return std::nullopt;
}

const StateEntry* PortState::FindConflict(uint64_t member, const peer::Register& wanted,
                                          const StateEntry& candidate,
                                          ConflictReason* reason) const {
  for (const StateEntry& there : entries_) {
    if (there.is_absent()) continue;
    const bool is_own = IsOf(there, member, wanted.server_id);
    const bool are_plain = (there.entry.flags & wanted.flags & peer::kEntryPlain) != 0;
    if (!is_own && (there.entry.flags & peer::kEntryExclusive) != 0) {
      *reason = ConflictReason::kExclusiveThere;
    } else if (!is_own && (wanted.flags & peer::kEntryExclusive) != 0) {
      *reason = ConflictReason::kExclusiveWanted;
    } else if (MeetOnOneSocket(there.parsed, candidate.parsed)) {
      *reason = ConflictReason::kScheme;
    } else if (is_own) {
      continue;
    } else if (are_plain &&
               OverlapsAsPort(there.parsed, there.entry.flags, candidate.parsed, wanted.flags) &&
               !ShareAPort(there, member, wanted, candidate.key)) {
      *reason = ConflictReason::kPlain;
    } else if (there.key == candidate.key && !SharesQueue(there.entry, wanted)) {
      *reason = ReasonOf(there.entry, wanted);
    } else {
      continue;
    }
    return &there;
  }
  return nullptr;
}

std::optional<PortState::Conflict> PortState::Check(uint64_t member,
                                                    const peer::Register& wanted) const {
  if (entries_.size() + wanted.prefixes.size() > limits::kEntriesMax &&
      entries_.size() + EntriesOf(member, wanted).size() > limits::kEntriesMax) {
    return Conflict{ENOSPC, 0, {}, {}, ConflictReason::kEntries};
  }
  const bool attaches = IsMode(wanted, QueueMode::kAttach);
  const bool has_queue =
      std::any_of(entries_.begin(), entries_.end(), [&](const StateEntry& there) {
        return there.entry.queue == wanted.queue && !there.is_absent();
      });
  if (attaches && !has_queue) return Conflict{ENOENT, 0, wanted.queue};
  std::vector<UrlPrefix> before;
  before.reserve(wanted.prefixes.size());
  for (const peer::PrefixItem& item : wanted.prefixes) {
    StateEntry candidate;
    if (!Parse(item.text, &candidate)) return Conflict{EINVAL, 0, item.text};
    const auto other = std::find_if(before.begin(), before.end(), [&](const UrlPrefix& prefix) {
      return MeetOnOneSocket(prefix, candidate.parsed);
    });
    if (other != before.end()) {
      return Conflict{EADDRINUSE, member, wanted.prefixes[other - before.begin()].text,
                      wanted.queue, ConflictReason::kScheme};
    }
    before.push_back(candidate.parsed);
    ConflictReason reason = ConflictReason::kNone;
    if (const StateEntry* there = FindConflict(member, wanted, candidate, &reason)) {
      return Conflict{EADDRINUSE, there->entry.member, there->entry.prefix, there->entry.queue,
                      reason};
    }
    candidate.entry.terms = item.terms;
    const StateEntry* there = FindOtherTerms(member, wanted, candidate);
    // Those that are there have other terms now, which is a fact.
    if (there != nullptr && !IsThere(member, wanted.server_id, item)) {
      return Conflict{EADDRINUSE,         there->entry.member,    there->entry.prefix,
                      there->entry.queue, ConflictReason::kTerms, item.text};
    }
  }
  return std::nullopt;
}

bool PortState::IsThere(uint64_t member, uint32_t server_id, const peer::PrefixItem& item) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const StateEntry& there) {
    return IsOf(there, member, server_id) && there.entry.prefix_id == item.id &&
           there.entry.prefix == item.text && !there.is_absent();
  });
}

std::vector<peer::Entry> PortState::EntriesOf(uint64_t member, const peer::Register& wanted) const {
  std::vector<peer::Entry> result;
  for (const peer::PrefixItem& item : wanted.prefixes) {
    const bool is_there = std::any_of(entries_.begin(), entries_.end(), [&](const auto& there) {
      return IsOf(there, member, wanted.server_id) && there.entry.prefix_id == item.id &&
             there.entry.prefix == item.text && there.entry.terms == item.terms &&
             !there.is_absent();
    });
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

std::vector<peer::EntryGone> PortState::RemoveMember(uint64_t id, uint64_t now_ms) {
  members_.erase(id);
  std::vector<peer::EntryGone> shared;
  const auto is_left = [=](const StateEntry& there) {
    return there.entry.member == id && !there.is_absent();
  };
  std::set<std::string> kept;
  for (const StateEntry& there : entries_) {
    if (!is_left(there)) kept.insert(there.key);
  }
  std::erase_if(entries_, [&](const StateEntry& there) {
    if (!is_left(there) || kept.insert(there.key).second) return false;
    shared.push_back({id, there.entry.server_id, there.entry.prefix_id});
    return true;
  });
  for (StateEntry& there : entries_) {
    if (is_left(there)) SetOffline(&there, now_ms);
  }
  return shared;
}

bool PortState::AddEntry(const peer::Entry& entry, uint64_t now_ms) {
  StateEntry added;
  added.entry = entry;
  if (!Parse(entry.prefix, &added)) return false;
  if (entry.absent_ms != 0) {
    added.absent_until_ms = now_ms + std::min(entry.absent_ms, limits::kAbsentMsMax);
  }
  std::erase_if(entries_, [&](const StateEntry& there) {
    const bool is_same =
        IsOf(there, entry.member, entry.server_id) && there.entry.prefix_id == entry.prefix_id;
    return is_same || (there.is_absent() && there.key == added.key);
  });
  if (entries_.size() >= limits::kEntriesMax) return false;
  entries_.push_back(std::move(added));
  return true;
}

void PortState::RemoveEntry(const peer::EntryGone& gone) {
  std::erase_if(entries_, [&](const StateEntry& there) {
    return IsOf(there, gone.member, gone.server_id) && there.entry.prefix_id == gone.prefix_id;
  });
}

bool PortState::HasKey(const std::string& key) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const StateEntry& there) { return there.key == key; });
}

bool PortState::HasPrefix(const std::string& text) const {
  StateEntry candidate;
  return Parse(text, &candidate) && HasKey(candidate.key);
}

std::vector<StateEntry> PortState::EntriesOfServer(uint64_t member, uint32_t server_id) const {
  std::vector<StateEntry> result;
  for (const StateEntry& there : entries_) {
    if (IsOf(there, member, server_id)) result.push_back(there);
  }
  return result;
}

std::vector<StateEntry> PortState::EntriesOfMember(uint64_t member) const {
  std::vector<StateEntry> result;
  for (const StateEntry& there : entries_) {
    if (there.entry.member == member) result.push_back(there);
  }
  return result;
}

PortState::Expired PortState::Expire(uint64_t now_ms) {
  Expired expired;
  std::erase_if(entries_, [&](StateEntry& there) {
    if (!there.is_absent() || there.absent_until_ms > now_ms) return false;
    if (there.is_offline()) {
      expired.gone.push_back({there.entry.member, there.entry.server_id, there.entry.prefix_id});
      return true;
    }
    SetOffline(&there, now_ms);
    there.entry.absent_ms = limits::kOfflineMs;
    expired.offline.push_back(there.entry);
    return false;
  });
  return expired;
}

std::optional<uint64_t> PortState::NextExpiry() const {
  std::optional<uint64_t> next;
  for (const StateEntry& there : entries_) {
    if (there.is_absent() && (!next || there.absent_until_ms < *next)) {
      next = there.absent_until_ms;
    }
  }
  return next;
}

std::vector<std::string> PortState::FedAddresses() const {
  std::vector<std::string> addresses;
  for (const StateEntry& there : entries_) {
    if (there.is_absent() || (there.entry.flags & peer::kEntryFed) == 0) continue;
    std::string address = AddressOf(there.parsed, there.entry.flags);
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(std::move(address));
    }
  }
  return addresses;
}

void PortState::Clear() {
  members_.clear();
  entries_.clear();
}

}  // namespace httpsys::sharing
