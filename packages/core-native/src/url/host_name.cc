#include "url/host_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "url/url_prefix.h"

namespace httpsys {
namespace {

bool IsHexDigit(char c) { return IsDigit(c) || (LowerCase(c) >= 'a' && LowerCase(c) <= 'f'); }

// Bytes of a registered name, except escapes: `unreserved` and `sub-delims` of RFC 3986.
constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    const bool is_mark = std::string_view("-._~!$&'()*+,;=").find(byte) != std::string_view::npos;
    const bool is_alnum =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    table[static_cast<size_t>(c)] = is_alnum || is_mark;
  }
  return table;
}();

// Returns true if `text` begins with `%` and two hexadecimal digits.
bool BeginsWithEscape(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && IsHexDigit(text[1]) && IsHexDigit(text[2]);
}

// Returns the length of the registered name or IPv4 address at the beginning of `text`.
size_t NameBytes(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  for (;;) {
    while (at != end && kNameBytes[static_cast<uint8_t>(*at)]) ++at;
    if (!BeginsWithEscape({at, static_cast<size_t>(end - at)})) break;
    at += 3;
  }
  return static_cast<size_t>(at - text.data());
}

// Returns the length of the bracketed IPv6 address at the beginning of `text`; 0 if there is none.
size_t AddressBytes(std::string_view text) {
  const size_t bracket = text.find(']');
  if (bracket == std::string_view::npos) return 0;
  const std::string_view address = text.substr(1, bracket - 1);
  std::array<uint8_t, 16> ip;
  const bool is_ipv6 = address.find(':') != std::string_view::npos && ParseIpAddress(address, &ip);
  return is_ipv6 ? bracket + 1 : 0;
}

// Returns true for an empty text, or a colon with any number of digits (none = default port).
bool IsPortOrNothing(std::string_view text) {
  if (text.empty()) return true;
  return text[0] == ':' && std::all_of(text.begin() + 1, text.end(), IsDigit);
}

}  // namespace

HostName ReadHost(std::string_view authority) {
  if (authority.empty()) return {{}, true};
  const bool is_bracketed = authority.front() == '[';
  const size_t bytes = is_bracketed ? AddressBytes(authority) : NameBytes(authority);
  if (bytes == 0 || !IsPortOrNothing(authority.substr(bytes))) return {};
  return {WithoutFinalDot(authority.substr(0, bytes)), true};
}

std::string_view WithoutFinalDot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

bool IsSameHost(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

}  // namespace httpsys
