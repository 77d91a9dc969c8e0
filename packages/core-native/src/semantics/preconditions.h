#pragma once
// Evaluates preconditions, such as If-Match and If-None-Match (RFC 9110, section 13).

#include <cstdint>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

enum class ConditionalMethod : uint8_t { kGet, kHead, kOther };

// Field values of a request; nothing = absent. Several lines must be joined with commas.
struct ConditionFields {
  std::optional<std::string_view> if_match = std::nullopt;
  std::optional<std::string_view> if_unmodified_since = std::nullopt;
  std::optional<std::string_view> if_none_match = std::nullopt;
  std::optional<std::string_view> if_modified_since = std::nullopt;
  std::optional<std::string_view> if_range = std::nullopt;
  bool has_range = false;  // The request has a Range field.
  // True if the request has `Cache-Control: no-cache`, which prevents a 304: a browser that reloads
  // a page wants the bytes. Express (`fresh`) does the same.
  bool is_reload = false;
};

// Validators of the selected representation, which must exist. A compressed variant has other
// validators than the plain representation.
struct Validators {
  std::string_view etag;  // Value of the ETag field; empty or malformed = no tag.
  // Date of the Last-Modified field, since 1970; nothing = no date.
  std::optional<int64_t> last_modified_seconds = std::nullopt;
};

enum class PreconditionOutcome : uint8_t {
  kPass,                // The method is performed.
  kNotModified,         // 304. Only for GET and HEAD.
  kPreconditionFailed,  // 412.
};

struct PreconditionResult {
  PreconditionOutcome outcome = PreconditionOutcome::kPass;
  bool range_applies = false;  // The Range field counts. Only for GET with kPass.
};

// Evaluates the fields in the order of RFC 9110, section 13.2.2. A field with an unreadable date
// counts as absent, as does a field with a date if the representation has none. If-Range never
// applies with a weak tag, with another date than the representation's, or within the second of the
// last change, in which a further change could go unnoticed. `now_seconds` is the time in seconds
// since 1970. Allocates nothing. Thread: any.
[[nodiscard]] PreconditionResult EvaluatePreconditions(ConditionalMethod method,
                                                       const ConditionFields& fields,
                                                       const Validators& validators,
                                                       int64_t now_seconds);

// Returns true if the value of a request's Cache-Control field has the directive `no-cache`.
[[nodiscard]] bool HasNoCache(std::string_view cache_control);

}  // namespace httpsys::semantics
