#pragma once
// Entity tags, alone and in the lists of If-Match and If-None-Match (RFC 9110,
// sections 8.8.3, 13.1.1 and 13.1.2).

#include <cstdint>
#include <optional>
#include <string_view>

namespace httpsys::semantics {

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

}  // namespace httpsys::semantics
