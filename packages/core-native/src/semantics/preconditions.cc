#include "semantics/preconditions.h"

#include <cstddef>

#include "base/ascii.h"
#include "semantics/http_date.h"
#include "semantics/list_members.h"

namespace httpsys::semantics {
namespace {

// True for an `etagc` byte: visible ASCII except the quote, or a byte above ASCII.
bool IsTagByte(char c) {
  return c == '!' || (c >= '#' && c <= '~') || static_cast<uint8_t>(c) >= 0x80;
}

// Returns the length of the entity tag at the beginning of `text`; 0 = there is none.
size_t ReadTag(std::string_view text, EntityTag* tag) {
  const bool is_weak = text.starts_with("W/");
  const size_t begin = is_weak ? 2 : 0;
  size_t at = begin;
  if (at == text.size() || text[at++] != '"') return 0;
  while (at < text.size() && IsTagByte(text[at])) ++at;
  if (at == text.size() || text[at++] != '"') return 0;
  *tag = {text.substr(begin, at - begin), is_weak};
  return at;
}

}  // namespace

std::optional<EntityTag> ParseEntityTag(std::string_view text) {
  EntityTag tag;
  const size_t bytes = ReadTag(text, &tag);
  if (bytes == 0 || bytes != text.size()) return std::nullopt;
  return tag;
}

bool IsSameTag(const EntityTag& a, const EntityTag& b, TagComparison comparison) {
  if (comparison == TagComparison::kStrong && (a.is_weak || b.is_weak)) return false;
  return a.opaque == b.opaque;
}

EntityTagList::EntityTagList(std::string_view value) : left_(value), is_any_(Trim(value) == "*") {}

bool EntityTagList::Next(EntityTag* tag) {
  const size_t begin = left_.find_first_not_of(", \t");
  if (begin == std::string_view::npos) return false;
  const size_t bytes = ReadTag(left_.substr(begin), tag);
  const std::string_view behind = TrimStart(left_.substr(begin + bytes));
  const bool is_member = bytes != 0 && (behind.empty() || behind.front() == ',');
  left_ = is_member ? behind : std::string_view();
  return is_member;
}

bool HasTag(std::string_view list, const EntityTag& tag, TagComparison comparison) {
  EntityTagList members(list);
  EntityTag member;
  while (members.Next(&member)) {
    if (IsSameTag(member, tag, comparison)) return true;
  }
  return false;
}

namespace {

// Returns true if the list is `*`, or has the tag.
bool MatchesTag(std::string_view list, const std::optional<EntityTag>& tag,
                TagComparison comparison) {
  if (EntityTagList(list).is_any()) return true;
  return tag.has_value() && HasTag(list, *tag, comparison);
}

// Returns true if the representation is newer than the field's date; nothing = a date is missing.
std::optional<bool> IsModifiedSince(std::string_view value, const Validators& validators,
                                    int64_t now_seconds) {
  const std::optional<int64_t> since = ParseHttpDate(Trim(value), now_seconds);
  if (!since.has_value() || !validators.last_modified_seconds.has_value()) return std::nullopt;
  return *validators.last_modified_seconds > *since;
}

bool IsPreconditionFailed(const ConditionFields& fields, const Validators& validators,
                          const std::optional<EntityTag>& tag, int64_t now_seconds) {
  if (fields.if_match.has_value()) {
    return !MatchesTag(*fields.if_match, tag, TagComparison::kStrong);
  }
  if (!fields.if_unmodified_since.has_value()) return false;
  return IsModifiedSince(*fields.if_unmodified_since, validators, now_seconds).value_or(false);
}

bool AppliesIfRange(std::string_view value, const Validators& validators,
                    const std::optional<EntityTag>& tag, int64_t now_seconds) {
  value = Trim(value);
  const std::optional<EntityTag> wanted = ParseEntityTag(value);
  if (wanted.has_value())
    return tag.has_value() && IsSameTag(*wanted, *tag, TagComparison::kStrong);
  const std::optional<int64_t> date = ParseHttpDate(value, now_seconds);
  return date.has_value() && date == validators.last_modified_seconds && *date < now_seconds;
}

}  // namespace

PreconditionResult EvaluatePreconditions(ConditionalMethod method, const ConditionFields& fields,
                                         const Validators& validators, int64_t now_seconds) {
  const std::optional<EntityTag> tag = ParseEntityTag(validators.etag);
  if (IsPreconditionFailed(fields, validators, tag, now_seconds)) {
    return {PreconditionOutcome::kPreconditionFailed, false};
  }
  const bool may_be_304 = method != ConditionalMethod::kOther;
  bool is_known = false;  // The client already has this representation.
  if (fields.if_none_match.has_value()) {
    is_known = MatchesTag(*fields.if_none_match, tag, TagComparison::kWeak);
    if (is_known && !may_be_304) return {PreconditionOutcome::kPreconditionFailed, false};
  } else if (fields.if_modified_since.has_value() && may_be_304) {
    is_known = !IsModifiedSince(*fields.if_modified_since, validators, now_seconds).value_or(true);
  }
  if (is_known && !fields.is_reload) return {PreconditionOutcome::kNotModified, false};
  if (method != ConditionalMethod::kGet || !fields.has_range) return {};
  const bool applies = !fields.if_range.has_value() ||
                       AppliesIfRange(*fields.if_range, validators, tag, now_seconds);
  return {PreconditionOutcome::kPass, applies};
}

bool HasNoCache(std::string_view cache_control) {
  ListMembers directives(cache_control);
  std::string_view directive;
  while (directives.Next(&directive)) {
    if (EqualsIgnoringCase(directive, "no-cache")) return true;
  }
  return false;
}

}  // namespace httpsys::semantics
