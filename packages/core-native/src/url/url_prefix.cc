#include "url/url_prefix.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "url/url_path.h"

namespace httpsys {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kHostNameBytesMax) return false;
  // True while the current label has only digits. If the last label has only digits, the text is a
  // misspelt IPv4 address and no name.
  bool only_digits = true;
  size_t label_bytes = 0;
  for (const char c : name) {
    if (c == '.') {
      if (label_bytes == 0) return false;
      label_bytes = 0;
      only_digits = true;
      continue;
    }
    if (!IsNameCharacter(c) || ++label_bytes > kHostLabelBytesMax) return false;
    only_digits = only_digits && IsDigit(c);
  }
  return label_bytes > 0 && !only_digits;
}

bool IsUnspecified(const std::array<uint8_t, 16>& ip) {
  const bool mapped = ip[10] == 0xFF && ip[11] == 0xFF;
  const size_t address_at = mapped ? 12 : 0;
  return std::all_of(ip.begin(), ip.begin() + 10, [](uint8_t b) { return b == 0; }) &&
         std::all_of(ip.begin() + address_at, ip.end(), [](uint8_t b) { return b == 0; });
}

// Removes a decimal number of at most `digits_max` digits, without leading zero, from `text`.
bool TakeDecimal(std::string_view* text, size_t digits_max, uint32_t* value) {
  size_t digits = 0;
  *value = 0;
  while (digits < text->size() && digits <= digits_max && IsDigit((*text)[digits])) {
    *value = *value * 10 + static_cast<uint32_t>((*text)[digits++] - '0');
  }
  if (digits == 0 || digits > digits_max || (digits > 1 && (*text)[0] == '0')) return false;
  text->remove_prefix(digits);
  return true;
}

bool ParseIpv4(std::string_view text, uint8_t* bytes) {
  for (int i = 0; i < 4; i++) {
    uint32_t value = 0;
    if (!TakeDecimal(&text, 3, &value) || value > 255) return false;
    bytes[i] = static_cast<uint8_t>(value);
    if (i == 3) break;
    if (text.empty() || text[0] != '.') return false;
    text.remove_prefix(1);
  }
  return text.empty();
}

bool TakeHexGroup(std::string_view* text, uint32_t* value) {
  size_t digits = 0;
  *value = 0;
  for (; digits < text->size() && digits < 5; digits++) {
    const char c = static_cast<char>((*text)[digits] | 0x20);
    if (IsDigit((*text)[digits])) {
      *value = *value << 4 | static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      *value = *value << 4 | static_cast<uint32_t>(c - 'a' + 10);
    } else {
      break;
    }
  }
  if (digits == 0 || digits > 4) return false;
  text->remove_prefix(digits);
  return true;
}

// Reads groups until the end or "::". The last one may be an IPv4 address.
bool TakeGroups(std::string_view* text, uint8_t* bytes, size_t bytes_max, size_t* filled) {
  *filled = 0;
  if (text->empty() || text->starts_with("::")) return true;
  for (;;) {
    if (*filled + 4 <= bytes_max && ParseIpv4(*text, bytes + *filled)) {
      *filled += 4;
      text->remove_prefix(text->size());
      return true;
    }
    uint32_t value = 0;
    if (*filled + 2 > bytes_max || !TakeHexGroup(text, &value)) return false;
    bytes[(*filled)++] = static_cast<uint8_t>(value >> 8);
    bytes[(*filled)++] = static_cast<uint8_t>(value & 0xFF);
    if (text->empty() || text->starts_with("::")) return true;
    if ((*text)[0] != ':') return false;
    text->remove_prefix(1);
  }
}

bool ParseIpv6(std::string_view text, std::array<uint8_t, 16>* ip) {
  ip->fill(0);
  size_t filled = 0;
  if (!TakeGroups(&text, ip->data(), 16, &filled)) return false;
  if (text.empty()) return filled == 16;
  text.remove_prefix(2);
  if (text.starts_with(':')) return false;
  // "::" stands for at least one group.
  if (filled > 14) return false;
  uint8_t tail[16];
  size_t tail_bytes = 0;
  if (!TakeGroups(&text, tail, 14 - filled, &tail_bytes) || !text.empty()) return false;
  std::copy(tail, tail + tail_bytes, ip->end() - static_cast<std::ptrdiff_t>(tail_bytes));
  return true;
}

bool ParseHost(std::string_view host, UrlPrefix* prefix) {
  prefix->is_subdomain_wildcard = false;
  prefix->host.clear();
  if (host == "+" || host == "*") {
    prefix->host_kind = host == "+" ? HostKind::kStrongWildcard : HostKind::kWeakWildcard;
    return true;
  }
  const bool bracketed = host.starts_with('[');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed ? ParseIpv6(host, &prefix->ip) : ParseIpAddress(host, &prefix->ip)) {
    prefix->host_kind = HostKind::kIpBound;
    return !IsUnspecified(prefix->ip);
  }
  if (bracketed) return false;
  prefix->host_kind = HostKind::kExplicit;
  prefix->is_subdomain_wildcard = host.starts_with("*.");
  if (prefix->is_subdomain_wildcard) host.remove_prefix(2);
  prefix->host = host;
  FoldCase(prefix->host.data(), prefix->host.size());
  return IsHostName(prefix->host);
}

bool ParsePath(std::string_view path, UrlPrefix* prefix) {
  if (!path.starts_with('/') || !path.ends_with('/')) return false;
  for (const char c : path) {
    // Refuse '?' and '#': the path of a request has none, so the prefix would never match.
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F || c == '?' || c == '#') return false;
  }
  prefix->path = DecodePath(path);
  return prefix->path.size() <= kPrefixPathBytesMax;
}

// Returns the length of the host at the beginning of `text`; npos if its bracket is not closed.
size_t HostBytes(std::string_view text) {
  if (!text.starts_with('[')) return std::min(text.find_first_of(":/"), text.size());
  const size_t bracket = text.find(']');
  return bracket == std::string_view::npos ? bracket : bracket + 1;
}

}  // namespace

bool ParseIpAddress(std::string_view text, std::array<uint8_t, 16>* ip) {
  if (text.find(':') != std::string_view::npos) return ParseIpv6(text, ip);
  ip->fill(0);
  (*ip)[10] = (*ip)[11] = 0xFF;
  return ParseIpv4(text, ip->data() + 12);
}

bool IsIpv4Mapped(const std::array<uint8_t, 16>& ip) {
  return std::all_of(ip.begin(), ip.begin() + 10, [](uint8_t byte) { return byte == 0; }) &&
         ip[10] == 0xFF && ip[11] == 0xFF;
}

PrefixError ParseUrlPrefix(std::string_view text, UrlPrefix* prefix) {
  prefix->is_https = text.starts_with(kHttps);
  if (!prefix->is_https && !text.starts_with(kHttp)) return PrefixError::kScheme;
  text.remove_prefix(prefix->is_https ? kHttps.size() : kHttp.size());

  const size_t host_bytes = HostBytes(text);
  if (host_bytes == std::string_view::npos) return PrefixError::kHost;
  if (!ParseHost(text.substr(0, host_bytes), prefix)) return PrefixError::kHost;
  text.remove_prefix(host_bytes);

  if (!text.starts_with(':')) return PrefixError::kPort;
  text.remove_prefix(1);
  uint32_t port = 0;
  if (!TakeDecimal(&text, 5, &port) || port == 0 || port > 65535) return PrefixError::kPort;
  if (!text.empty() && text[0] != '/') return PrefixError::kPort;
  prefix->port = static_cast<uint16_t>(port);

  return ParsePath(text, prefix) ? PrefixError::kNone : PrefixError::kPath;
}

}  // namespace httpsys
