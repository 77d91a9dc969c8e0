#pragma once
// A URL prefix such as `http://+:8080/shop/`, in its canonical form; see docs/url-prefixes.md.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys {

// The kinds of hosts, in their order of precedence.
enum class HostKind : uint8_t { kStrongWildcard, kExplicit, kIpBound, kWeakWildcard };

struct UrlPrefix {
  bool is_https = false;
  HostKind host_kind = HostKind::kWeakWildcard;
  // True for `*.shop.test`: the kind is kExplicit, and `host` is "shop.test".
  bool is_subdomain_wildcard = false;
  std::string host;              // Lower case, IDN as punycode; empty for wildcards.
  std::array<uint8_t, 16> ip{};  // The address if the kind is kIpBound; IPv4 as IPv4-mapped.
  uint16_t port = 0;
  std::string path;  // Decoded, dot-free, begins and ends with '/'.
};

enum class PrefixError : uint8_t { kNone, kScheme, kHost, kPort, kPath };

// Longest path of a prefix, decoded. Limited so that a path can be matched in a buffer on the
// stack; HTTP.SYS accepts about the same length.
inline constexpr size_t kPrefixPathBytesMax = 2048;

// Longest host name, and longest label in it (RFC 1035, section 2.3.4).
inline constexpr size_t kHostNameBytesMax = 253;
inline constexpr size_t kHostLabelBytesMax = 63;

// Parses the canonical form only: scheme in lower case, port, final slash, IDN hosts as punycode
// (lib/prefixes/url-prefix.js makes it from users' input). A host in mixed case is accepted, and
// becomes lower case. 0.0.0.0 and [::] are refused: no connection has them as its local address.
// The returned error names the first wrong part; `prefix` is then incomplete. Thread: any.
[[nodiscard]] PrefixError ParseUrlPrefix(std::string_view text, UrlPrefix* prefix);

// Parses dotted-decimal IPv4 (as ::ffff:a.b.c.d) or IPv6 without brackets and zone. Thread: any.
[[nodiscard]] bool ParseIpAddress(std::string_view text, std::array<uint8_t, 16>* ip);
// True for an IPv4 address, stored as ::ffff:a.b.c.d. Thread: any.
bool IsIpv4Mapped(const std::array<uint8_t, 16>& ip);

}  // namespace httpsys
