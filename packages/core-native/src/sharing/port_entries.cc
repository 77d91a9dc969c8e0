#include "sharing/port_entries.h"

#include <algorithm>
#include <array>
#include <utility>

#include "url/url_path.h"

namespace httpsys::sharing {
namespace {

// What an IPv4 address begins with.
constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
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

}  // namespace

bool IsIpv4(const UrlPrefix& prefix, uint8_t flags) {
  if (prefix.host_kind != HostKind::kIpBound) return (flags & peer::kEntryIpv4) != 0;
  return std::equal(kMapped.begin(), kMapped.end(), prefix.ip.begin());
}

bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry) {
  UrlPrefix& parsed = entry->parsed;
  if (ParseUrlPrefix(prefix, &parsed) != PrefixError::kNone || parsed.port != port) return false;
  entry->key = {parsed.is_https ? 's' : '-', static_cast<char>('0' + int(parsed.host_kind)),
                parsed.is_subdomain_wildcard ? '*' : '-'};
  entry->key.append(parsed.ip.begin(), parsed.ip.end());
  entry->key.append(Folded(parsed.host)).append(Folded(parsed.path));
  entry->hello_key = HelloKeyOf(parsed);
  return true;
}

const StateEntry* PortEntries::Find(uint64_t member, uint32_t server_id, uint32_t prefix_id) const {
  const auto found = by_id_.find({member, server_id, prefix_id});
  return found == by_id_.end() ? nullptr : &*found->second;
}

void PortEntries::Add(StateEntry entry) {
  const auto at = list_.insert(list_.end(), std::move(entry));
  by_id_.emplace(IdOf(*at), at);
  by_key_.emplace(at->key, at);
}

void PortEntries::Remove(const StateEntry* entry) {
  const auto found = by_id_.find(IdOf(*entry));
  const List::iterator at = found->second;
  by_id_.erase(found);
  const auto [first, last] = by_key_.equal_range(at->key);
  for (auto i = first; i != last; ++i) {
    if (i->second != at) continue;
    by_key_.erase(i);
    break;
  }
  list_.erase(at);
}

void PortEntries::Clear() {
  by_key_.clear();
  by_id_.clear();
  list_.clear();
}

}  // namespace httpsys::sharing
