#pragma once
// URLs of cache entries as people read and write them.

#include <optional>
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

// -- References of one response to other URLs of its origin.

struct RequestUrl {
  bool is_secure = false;
  std::string_view host;    // Value of the Host field.
  std::string_view target;  // In origin form.
};

// Resolves the value of a Location or Content-Location field (RFC 3986, section 5.2). Returns the
// target of the resulting URL; nothing = malformed, or of another origin. Thread: any.
[[nodiscard]] std::optional<std::string> SameOriginTarget(const RequestUrl& base,
                                                          std::string_view reference);

}  // namespace httpsys::engine
