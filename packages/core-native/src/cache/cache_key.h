#pragma once
// Keys of the output cache: everything of a request that an answer may depend on without saying so
// in Vary.

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/request_parser.h"

namespace httpsys::cache {

// Longest key. A longer URL bypasses the cache.
inline constexpr size_t kKeyBytesMax = 8 * 1024;

// Where a request came in.
struct KeyScope {
  bool is_secure = false;  // TLS.
  // The port of the listener. Servers without a port need numbers of their own, above 65535: two
  // servers of a process never share an answer, whatever Host a client sends.
  uint32_t port = 0;
};

// Makes the key of a request: scheme, port, Host, target and forwarding fields (IsForwardingField),
// all of them byte for byte as the request has them. Nothing is normalised: applications read these
// bytes, so that requests that differ in any of them may have different answers. Requests with the
// same key have the same bytes. Returns false if the key would be too long. `head` is that of
// request_facts.h, `key` is replaced, and keeps its memory. Thread: any.
[[nodiscard]] bool MakeKey(const KeyScope& scope, const http1::RequestHead& head, std::string* key);

// The parts of a key that name a URL, for flushing and for lists of entries.
struct KeyParts {
  KeyScope scope;
  std::string_view host;
  std::string_view target;
};

// Takes a key apart, that of a variant, too. The key may come from another process: returns false
// if it is none.
[[nodiscard]] bool SplitKey(std::string_view key, KeyParts* parts);

// The path and query of a target. Clients ask proxies, and may ask servers, for whole URLs
// (RFC 9112, section 3.2.2).
[[nodiscard]] std::string_view OriginForm(std::string_view target);

// Returns the key of a request that differs from the one with this key in its target alone. `key`
// was made by MakeKey().
[[nodiscard]] std::string KeyForTarget(std::string_view key, std::string_view target);

}  // namespace httpsys::cache
