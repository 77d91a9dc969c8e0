#pragma once
// Keys of the output cache: all parts of a request that an answer depends on without Vary.

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/request_parser.h"

namespace httpsys::cache {

// Maximum length of a key. Requests whose key would be longer bypass the cache.
inline constexpr size_t kKeyBytesMax = 8 * 1024;

// The scheme and the port on which a request arrived.
struct KeyScope {
  bool is_secure = false;  // TLS.
  // The port of the listener, or a number above 65535 for other scopes (ProcessCache::Claim):
  // requests of two scopes never share an answer, whatever Host a client sends.
  uint32_t port = 0;
};

// Makes the key of a request: scheme, port, Host, target and forwarding fields (IsForwardingField),
// all of them byte for byte as the request has them. Nothing is normalised: applications read these
// bytes, so requests that differ in any of them may have different answers. Returns false if the
// key would be too long. `head` is as for ReadRequest(). Replaces `key`. Thread: any.
[[nodiscard]] bool MakeKey(const KeyScope& scope, const http1::RequestHead& head, std::string* key);

// The parts of a key that name a URL, for flushing and for lists of entries.
struct KeyParts {
  KeyScope scope;
  std::string_view host;
  std::string_view target;
};

// Splits the key of a URL or variant. Returns false if `key`, perhaps of another process, is none.
[[nodiscard]] bool SplitKey(std::string_view key, KeyParts* parts);

// Returns the path and query of a target. A target may be a whole URL (RFC 9112, section 3.2.2).
[[nodiscard]] std::string_view OriginForm(std::string_view target);

// Returns `key`, which MakeKey() has made, with another target.
[[nodiscard]] std::string KeyForTarget(std::string_view key, std::string_view target);

}  // namespace httpsys::cache
