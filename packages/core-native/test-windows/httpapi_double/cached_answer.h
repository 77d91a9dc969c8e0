#pragma once

#include <string>

#include "http_head.h"
#include "model.h"
#include "response_cache.h"

namespace httpapi_double {

// Which responses the kernel keeps, and what it makes of them for later requests. The rules are
// those of the page "Kernel Mode Cache" and of what ASP.NET's ResponseCachingTests assert.

// Largest response that is kept, bytes of head and body: the default of UriMaxUriBytes.
inline constexpr size_t kUriMaxUriBytes = 256 * 1024;

// Whether a request goes past the cache: it is neither answered by an entry nor does its response
// become one.
bool BypassesCache(const RequestHead& head);

// Whether the response to a request is kept, if its policy asks for that and it leaves in one call.
// `bytes` are those of head and body.
bool IsKept(const RequestHead& head, const HTTP_RESPONSE& response, size_t bytes);

// The answer of an entry to a request: the whole response, a part of it (206), several parts
// (multipart/byteranges), 304 or 416. `close` is the line that ends the connection, or empty.
std::string CachedAnswer(const ResponseCache::Entry& entry, const RequestHead& head,
                         const std::string& close);

}  // namespace httpapi_double
