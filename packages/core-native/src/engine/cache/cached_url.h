#pragma once
// URLs of entries, for people.

#include <string>
#include <string_view>

#include "cache/cache_key.h"

namespace httpsys::engine {

// The URL of an entry, with the Host of its request as received.
[[nodiscard]] std::string CachedUrl(const cache::KeyParts& key);

// Which entries are to be forgotten. Thread: any.
struct CachedUrlPattern {
  bool is_secure = false;
  std::string host;  // In lower case, without the port; empty = any host.
  std::string port;
  std::string target;
  bool is_recursive = false;  // All URLs below it, too.

  // Reads an absolute URL. `*` or `+` for the host means every host. Returns false if it is none.
  [[nodiscard]] bool Parse(std::string_view url);
  // A request whose Host names no port may have been for any.
  [[nodiscard]] bool Matches(const cache::KeyParts& key) const;
};

}  // namespace httpsys::engine
