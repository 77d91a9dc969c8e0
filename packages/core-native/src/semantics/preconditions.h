#pragma once
// Preconditions of a request: what If-Match, If-None-Match and the like make of it (RFC 9110,
// section 13).

#include <cstdint>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

enum class ConditionalMethod : uint8_t { kGet, kHead, kOther };

// Field values of a request, nothing where a field is absent. Several lines of one field are joined
// with commas.
struct ConditionFields {
  std::optional<std::string_view> if_match = std::nullopt;
  std::optional<std::string_view> if_unmodified_since = std::nullopt;
  std::optional<std::string_view> if_none_match = std::nullopt;
  std::optional<std::string_view> if_modified_since = std::nullopt;
  std::optional<std::string_view> if_range = std::nullopt;
  bool has_range = false;  // The request has a Range field.
  // The request has `Cache-Control: no-cache`. No 304 answers it then: a browser that reloads a
  // page wants the bytes. Express, whose `fresh` decides about 304, does the same.
  bool is_reload = false;
};

// What the server knows of the selected representation, of which one must exist: a compressed
// variant has validators of its own.
struct Validators {
  std::string_view etag;  // The value of its ETag field. Empty or malformed: it has none.
  // Since 1970, as in its Last-Modified field.
  std::optional<int64_t> last_modified_seconds = std::nullopt;
};

enum class PreconditionOutcome : uint8_t {
  kPass,                // The method is performed.
  kNotModified,         // 304. Only for GET and HEAD.
  kPreconditionFailed,  // 412.
};

struct PreconditionResult {
  PreconditionOutcome outcome = PreconditionOutcome::kPass;
  bool range_applies = false;  // The Range field is to be obeyed. Only for GET, with kPass.
};

// Evaluates the fields in the order of RFC 9110, section 13.2.2. A date that cannot be read, or
// with which no date of the representation can be compared, counts as absent. If-Range never
// applies with a weak tag, with a date that differs from that of the representation, or within the
// second of the last change, in which another one could follow unseen. `now_seconds` is the time in
// seconds since 1970. Allocates nothing. Thread: any.
[[nodiscard]] PreconditionResult EvaluatePreconditions(ConditionalMethod method,
                                                       const ConditionFields& fields,
                                                       const Validators& validators,
                                                       int64_t now_seconds);

// Returns true if the value of a request's Cache-Control field has the directive `no-cache`.
[[nodiscard]] bool HasNoCache(std::string_view cache_control);

}  // namespace httpsys::semantics
