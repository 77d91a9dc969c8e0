#pragma once
// Facts about a request that the output cache needs, read from its head in one pass.

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
  kOther,  // Unsafe or unknown methods, which invalidate stored responses (RFC 9111, section 4.4).
};

struct RequestFacts {
  MethodKind method = MethodKind::kOther;
  // Directives of the request. `no-cache` is also set by `Pragma: no-cache` without a Cache-Control
  // field (RFC 9111, section 5.4). Views point into the lines.
  semantics::CacheControl control;
  bool has_authorization = false;
  // True if the client has shown a certificate, or the server has requested one.
  bool has_client_certificate = false;
  bool has_cookie = false;
  bool has_body = false;
  bool has_upgrade = false;
  bool expects_other = false;   // Expect, other than 100-continue.
  bool overrides_url = false;   // A field overrides URL or method in some frameworks.
  bool has_clear_host = false;  // Exactly one Host line.
  bool has_range = false;       // Range or If-Range.
  bool has_translate = false;   // Translate: f, of WebDAV.
  // True with If-Match or If-Unmodified-Since, which may make the application reject the request.
  // Caches do not evaluate these fields (RFC 9111, section 4.3.2).
  bool has_precondition = false;
  // True if no field can identify a user to an application, so that the default lifetime of
  // HTTP.SYS rules may apply. Harmless fields: Host, Accept and Accept-*, User-Agent, Connection,
  // Keep-Alive, Sec-* but Sec-Fetch-Site, Priority, DNT, Cache-Control, Pragma, conditionals,
  // Range, TE, Upgrade-Insecure-Requests, Save-Data, traceparent, tracestate, and the fields that
  // are part of the key (IsForwardingField).
  bool is_harmless = true;
};

// Reads a request. `head` comes from http1::RequestParser or http2::RequestFields, before a request
// record is written from it; `method` is the name of its method in the table of the server.
// `has_client_certificate` is a fact of the connection. `harmless` are names of further harmless
// fields, in lower case. Allocates nothing. Thread: any.
[[nodiscard]] RequestFacts ReadRequest(const http1::RequestHead& head, std::string_view method,
                                       bool has_client_certificate,
                                       std::span<const std::string> harmless = {});

// Returns true for fields by which a proxy describes the original request to the application.
// Answers depend on them, so they are part of the key: Forwarded, X-Host, X-Url-Scheme,
// Front-End-Https, and X-Forwarded-* but X-Forwarded-For.
[[nodiscard]] bool IsForwardingField(std::string_view name);

}  // namespace httpsys::cache
