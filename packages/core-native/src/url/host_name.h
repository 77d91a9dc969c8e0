#pragma once
// Reads host names of Host fields, authorities and TLS server names. All rules about hosts (URL
// prefixes, 421, the choice of a certificate) must use this one function: otherwise one rule could
// read another host than the next one, and a request could reach the wrong handler.

#include <string_view>

namespace httpsys {

struct HostName {
  // The name without port and final dot, in its original case; IPv6 in brackets; empty = no host.
  std::string_view name;
  bool is_valid = false;  // If false, `name` is empty.
};

// Reads `uri-host [ ":" port ]` (RFC 9110, section 7.2): a registered name, an IPv4 address or an
// IPv6 literal without a zone. An empty `authority` is valid and names no host. Invalid are user
// information, a port that is no number, a port alone, and bytes that no name can have. `name` is a
// part of `authority`. Linear in the length, allocates nothing. Thread: any.
[[nodiscard]] HostName ReadHost(std::string_view authority);

// Returns `name` without the final dot for the DNS root: `a.test.` is `a.test`. Thread: any.
[[nodiscard]] std::string_view WithoutFinalDot(std::string_view name);

// Returns true if two names of ReadHost() or WithoutFinalDot() are the same host. Thread: any.
[[nodiscard]] bool IsSameHost(std::string_view a, std::string_view b);

}  // namespace httpsys
