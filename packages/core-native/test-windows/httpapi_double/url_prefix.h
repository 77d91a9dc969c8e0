#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace httpapi_double {

// Where a request came in.
struct Arrival {
  bool is_secure;
  uint16_t port;
  std::string local_address;  // As text.
  std::string host;           // Of the request, in lower case.
  std::string path;           // Decoded, in lower case.
};

struct UrlPrefix {
  // In the order that they are searched.
  enum class Kind : uint8_t { kStrongWildcard, kExplicit, kAddress, kWeakWildcard };

  Kind kind;
  bool is_secure;
  uint16_t port;
  std::string host;  // In lower case; of an address, without brackets.
  std::string path;  // In lower case, with the final slash.

  bool operator==(const UrlPrefix&) const = default;
  bool IsFor(const Arrival& arrival) const;
  // The host and port only.
  bool IsForHost(const Arrival& arrival) const;
};

// "UrlPrefix Strings": scheme, host, port and a path that ends with a slash,
// all of them needed. `is_flexible` allows any end of the path: names of cached
// things.
bool ParseUrlPrefix(std::wstring_view text, bool is_flexible, UrlPrefix* prefix);

}  // namespace httpapi_double
