#pragma once
// What the output cache has to know of a request, read from its head in one pass.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http1/request_parser.h"
#include "semantics/cache_control.h"

namespace httpsys::cache {

enum class MethodKind : uint8_t {
  kGet,
  kHead,
  kSafe,   // Neither reads nor changes the cache: OPTIONS, TRACE, PROPFIND, REPORT, SEARCH, QUERY.
  kOther,  // Unsafe or unknown: invalidates what is stored (RFC 9111, section 4.4).
};

struct RequestFacts {
  MethodKind method = MethodKind::kOther;
  // Directives of the request; `no-cache` also for a Pragma that says so, if there is no
  // Cache-Control (RFC 9111, section 5.4). Views point into the lines.
  semantics::CacheControl control;
  // The request says who asks: Authorization, Proxy-Authorization.
  bool has_authorization = false;
  // The connection has shown a client certificate, or its server asks for one.
  bool has_client_certificate = false;
  bool has_cookie = false;
  bool has_body = false;
  bool has_upgrade = false;
  bool expects_other = false;   // Expect, other than 100-continue.
  bool overrides_url = false;   // Frameworks take URL or method from another field.
  bool has_clear_host = false;  // Exactly one Host line.
  bool has_range = false;       // Range or If-Range.
  bool has_translate = false;   // Translate: f, of WebDAV.
  // If-Match or If-Unmodified-Since: the request wants to be refused unless its client is right
  // about the resource. A cache does not look at what they say (RFC 9111, section 4.3.2).
  bool has_precondition = false;
  // Each field is one that no application takes for the identity of a user, so that the default
  // lifetime of HTTP.SYS rules may apply: Host, Accept and Accept-*, User-Agent, Connection,
  // Keep-Alive, Sec-* but Sec-Fetch-Site, Priority, DNT, Cache-Control, Pragma, conditionals,
  // Range, TE, Upgrade-Insecure-Requests, Save-Data, traceparent, tracestate, and the fields that
  // are part of the key (IsForwardingField).
  bool is_harmless = true;
};

// Reads a request. `head` is the one that http1::RequestParser or http2::RequestFields has made,
// before a request record is written from it, and `method` its method's name in the table of the
// server. `has_client_certificate` is a fact of the connection. `harmless` are names of further
// harmless fields, in lower case. Allocates nothing. Thread: any.
[[nodiscard]] RequestFacts ReadRequest(const http1::RequestHead& head, std::string_view method,
                                       bool has_client_certificate,
                                       std::span<const std::string> harmless = {});

// Returns true for fields by which a proxy tells an application how it was asked. Answers depend on
// them, so that they are part of the key: Forwarded, X-Host, X-Url-Scheme, Front-End-Https, and
// X-Forwarded-* but X-Forwarded-For.
[[nodiscard]] bool IsForwardingField(std::string_view name);

}  // namespace httpsys::cache
