#pragma once
// Evaluates preconditions, such as If-Match and If-None-Match (RFC 9110, section 13).

#include <cstdint>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

// Entity tags, alone and in the lists of If-Match and If-None-Match (RFC 9110,
// sections 8.8.3, 13.1.1 and 13.1.2).
struct EntityTag {
  std::string_view opaque;  // With quotes, without `W/`. A parsed tag is never empty.
  bool is_weak = false;
};

// Parses exactly one entity tag: `"x"` or `W/"x"`, without white space around it. The result views
// `text`. Returns nothing for any other text. Thread: any.
[[nodiscard]] std::optional<EntityTag> ParseEntityTag(std::string_view text);

enum class TagComparison : uint8_t {
  kStrong,  // Tags match only if both are strong.
  kWeak,
};

[[nodiscard]] bool IsSameTag(const EntityTag& a, const EntityTag& b, TagComparison comparison);

// Members of a field value that lists entity tags, from first to last. Several lines of the field
// must be joined with commas. Skips empty members. Allocates nothing, and reads each byte once.
// Thread: any, one at a time.
class EntityTagList {
 public:
  explicit EntityTagList(std::string_view value);

  // Returns true if the whole value is `*`; such a value has no members.
  bool is_any() const { return is_any_; }
  // Moves to the next member. Returns false after the last one, and at a malformed member: neither
  // that member nor the text after it can match.
  [[nodiscard]] bool Next(EntityTag* tag);

 private:
  std::string_view left_;
  bool is_any_;
};

// Returns true if a member of the list matches `tag`. The list `*` has no members.
[[nodiscard]] bool HasTag(std::string_view list, const EntityTag& tag, TagComparison comparison);

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
