#include "sharing/state_entry.h"

#include "url/url_path.h"

namespace httpsys::sharing {
namespace {

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
}

// Returns the properties of a prefix that a ClientHello can show: its host, or only the address of
// the connection. A ClientHello cannot distinguish prefixes with the same key.
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
  return IsIpv4Mapped(prefix.ip);
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

}  // namespace httpsys::sharing
