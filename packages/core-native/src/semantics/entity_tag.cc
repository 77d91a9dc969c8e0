#include "semantics/entity_tag.h"

#include <cstddef>

#include "semantics/white_space.h"

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

}  // namespace httpsys::semantics
