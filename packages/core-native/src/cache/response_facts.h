#pragma once
// Facts about a response that the output cache needs, read from its lines in one pass.

#include <cstdint>
#include <optional>
#include <span>

#include "cache/vary.h"
#include "http1/header_line.h"
#include "semantics/cache_control.h"

namespace httpsys::cache {

struct FieldDate {
  enum class State : uint8_t { kAbsent, kInvalid, kValid };

  State state = State::kAbsent;
  int64_t seconds = 0;  // Since 1970. Valid with kValid only.

  bool is_valid() const { return state == State::kValid; }
};

struct ResponseFacts {
  uint16_t status = 0;
  // The directives for the rules of RFC 9111, as views into the lines: from CDN-Cache-Control if it
  // can be used (RFC 9213, section 2.2), otherwise from Cache-Control. If CDN-Cache-Control names
  // no lifetime, the restrictions of Cache-Control, such as `private`, count as well.
  semantics::CacheControl control;
  // The directives for the rules of HTTP.SYS: Cache-Control, with the restrictions of a
  // CDN-Cache-Control that can be used (HTTP.SYS itself does not know it).
  semantics::CacheControl http_sys_control;
  // True if CDN-Cache-Control decides: Expires then has no meaning under the rules of RFC 9111.
  bool is_targeted = false;
  // Dates of fields. Of several lines the earliest counts; an invalid line makes the field invalid.
  FieldDate expires;
  FieldDate date;
  FieldDate last_modified;
  uint32_t age_s = 0;  // 0 if Age is absent or no number.
  VaryNames vary;
  bool has_vary = false;
  bool has_etag = false;
  bool has_set_cookie = false;
  bool has_pragma = false;
  bool has_content_type = false;

  // True if the application can confirm that the response is still good (RFC 9110, section 8.8).
  bool has_validator() const { return has_etag || last_modified.is_valid(); }
};

// Reads a response. `lines` is the parsed head of a reply record. `now_s` is the time in seconds
// since 1970. Allocates nothing. Thread: any.
[[nodiscard]] ResponseFacts ReadResponse(uint16_t status, std::span<const http1::HeaderLine> lines,
                                         int64_t now_s);

}  // namespace httpsys::cache
