#pragma once
// Directives of Cache-Control and its targeted forms (RFC 9111, section 5.2; RFC 5861; RFC 9213).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::semantics {

// Largest number of seconds, 68 years; larger numbers are reduced to it (RFC 9111, section 1.2.2).
inline constexpr uint32_t kDeltaSecondsMax = 2'147'483'648u;

// Parses digits; numbers above kDeltaSecondsMax become kDeltaSecondsMax. Returns false for any
// other text, the empty one included. Allocates nothing. Thread: any.
[[nodiscard]] bool ParseDeltaSeconds(std::string_view text, uint32_t* seconds);

// The argument of a directive that counts seconds.
struct DirectiveSeconds {
  enum class State : uint8_t {
    kAbsent,
    kInvalid,  // At least one argument is no number.
    kValid,
  };

  State state = State::kAbsent;
  uint32_t seconds = 0;  // Valid with kValid only.

  bool is_absent() const { return state == State::kAbsent; }
  bool is_valid() const { return state == State::kValid; }
  // Add an argument. The smallest (or largest) counts, which is stricter than RFC 9111, 4.2.1.
  void AddSmallest(std::string_view argument);
  void AddLargest(std::string_view argument);
  void Invalidate() { state = State::kInvalid; }
};

// A directive that may name fields: `no-cache` or `private`.
class QualifiedDirective {
 public:
  // Maximum number of arguments that are kept. With more, the directive counts as unqualified.
  static constexpr size_t kListsMax = 4;

  // True if the message has the directive, with or without an argument.
  bool is_present() const { return is_present_; }
  // True if the directive applies to the whole message: at least one of its occurrences has no
  // argument, an unreadable argument, or one that names no field.
  bool is_unqualified() const { return is_unqualified_; }
  // True if the directive applies to this field. The comparison ignores case; an unqualified
  // directive applies to every field.
  bool Names(std::string_view field) const;

  void Add() { is_present_ = is_unqualified_ = true; }
  // Adds an argument. `list` has the field names between the quotes, and must outlive this object.
  void Add(std::string_view list);

 private:
  std::array<std::string_view, kListsMax> lists_;
  uint8_t list_count_ = 0;
  bool is_present_ = false;
  bool is_unqualified_ = false;
};

// The directives of one message, from all lines of the field. A directive that restricts a cache
// counts even if its argument is malformed; a directive that allows something must be well-formed.
// Views point into the values that were read.
struct CacheControl {
  bool is_present = false;  // The message has at least one line of the field.
  // True if an element is no directive, as in `public; no-store`: the field may forbid even more.
  bool is_garbled = false;

  // Directives of responses, and of requests as far as RFC 9111, section 5.2.1 defines them.
  DirectiveSeconds max_age;
  bool no_store = false;
  bool no_transform = false;
  QualifiedDirective no_cache;

  // Directives of responses.
  DirectiveSeconds s_maxage;
  DirectiveSeconds stale_while_revalidate;  // RFC 5861, section 3.
  DirectiveSeconds stale_if_error;          // RFC 5861, section 4; of requests, too.
  QualifiedDirective is_private;
  bool is_public = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;

  // Directives of requests.
  DirectiveSeconds min_fresh;
  DirectiveSeconds max_stale;
  bool accepts_any_staleness = false;  // `max-stale` without an argument.
  bool only_if_cached = false;
};

// Adds the directives of one line of Cache-Control. Accepts any text: skips elements that are no
// directives, up to the next comma outside of quotes, and notes them in `is_garbled`. An open quote
// extends to the end of the line. Linear in the bytes, allocates nothing. Thread: any.
void ReadCacheControl(std::string_view value, CacheControl* directives);

// The directives of a targeted field, CDN-Cache-Control (RFC 9213, section 2.1), which is a
// dictionary of structured fields. A directive whose value has the wrong type, such as
// `max-age="60"`, is invalid, not absent. Unlike in a dictionary, all members with the same key
// count: of a repeated max-age, the smallest counts. Allocates nothing. Thread: any, one at a time.
class TargetedCacheControl {
 public:
  void AddLine(std::string_view line);

  // True if the field counts; false if it is absent, malformed or empty, and must be ignored.
  bool is_usable() const { return has_members_ && !is_broken_ && !has_empty_line_; }
  // True if a line of the field is no dictionary.
  bool is_broken() const { return is_broken_; }
  // The directives. Views point into the lines. Valid if is_usable().
  const CacheControl& directives() const { return directives_; }

 private:
  CacheControl directives_;
  bool has_members_ = false;
  bool is_broken_ = false;
  bool has_empty_line_ = false;
};

}  // namespace httpsys::semantics
