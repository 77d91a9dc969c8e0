#pragma once
// URLs of cache entries as people read and write them.

#include <string>
#include <string_view>

#include "cache/cache_key.h"

namespace httpsys::engine {

// Returns the URL of an entry, with the Host of its request as received.
[[nodiscard]] std::string CachedUrl(const cache::KeyParts& key);

// A pattern that selects the entries that a flush drops or a list shows. Thread: any.
struct CachedUrlPattern {
  bool is_secure = false;
  std::string host;  // In lower case, without the port; empty = any host.
  std::string port;
  std::string target;
  bool is_recursive = false;  // Matches all URLs below `target`, too.

  // Reads an absolute URL; the host `*` or `+` matches every host. Returns false if malformed.
  [[nodiscard]] bool Parse(std::string_view url);
  // Returns true if the entry's URL matches. A Host field without a port matches every port.
  [[nodiscard]] bool Matches(const cache::KeyParts& key) const;
};

}  // namespace httpsys::engine
