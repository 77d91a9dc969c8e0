#include "semantics/cache_control.h"

#include <algorithm>

#include "base/ascii.h"
#include "http1/char_class.h"
#include "semantics/list_members.h"
#include "semantics/structured_fields.h"

namespace httpsys::semantics {
namespace {

bool EqualNames(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return http1::HasClass(c, http1::kTokenChar); });
}

// Returns true if the whole text is one quoted string (RFC 9110, section 5.6.4).
bool IsQuoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return false;
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at == text.size() - 1;
    // A backslash escapes the next byte.
    if (text[at] == '\\') ++at;
  }
  return false;
}

// An element of the list: `name`, `name=token`, `name="quoted"`, or something else.
struct Element {
  enum class Form : uint8_t {
    kBare,      // A name alone.
    kArgument,  // A name with a token, or with a quoted text without escapes.
    kGarbled,   // A name followed by anything else.
  };

  // True if the element is a directive by the grammar (RFC 9111, section 5.2), even if its argument
  // is ignored because of escapes in the quoted text.
  bool is_directive = false;
  std::string_view name;  // Empty if the element begins with no name.
  std::string_view argument;
  Form form = Form::kBare;
};

Element ReadElement(std::string_view text) {
  Element element;
  size_t name_bytes = 0;
  while (name_bytes < text.size() && http1::HasClass(text[name_bytes], http1::kTokenChar)) {
    ++name_bytes;
  }
  element.name = text.substr(0, name_bytes);
  text.remove_prefix(name_bytes);
  element.is_directive = name_bytes > 0;
  if (text.empty()) return element;
  element.form = Element::Form::kGarbled;
  const bool is_quoted = text.front() == '=' && IsQuoted(text.substr(1));
  const bool is_token = text.front() == '=' && IsToken(text.substr(1));
  element.is_directive = element.is_directive && (is_quoted || is_token);
  if (is_token) {
    element.argument = text.substr(1);
    element.form = Element::Form::kArgument;
  } else if (is_quoted && text.find('\\') == std::string_view::npos) {
    element.argument = text.substr(2, text.size() - 3);
    element.form = Element::Form::kArgument;
  }
  return element;
}

void AddQualified(const Element& element, QualifiedDirective* directive) {
  if (element.form == Element::Form::kArgument) {
    directive->Add(element.argument);
  } else {
    directive->Add();
  }
}

// If the element is a directive with seconds, adds it and returns true; returns false otherwise.
bool AddSeconds(const Element& element, CacheControl* to) {
  // An empty argument counts as an invalid number.
  const std::string_view argument =
      element.form == Element::Form::kArgument ? element.argument : std::string_view();
  if (EqualsIgnoringCase(element.name, "max-age")) {
    to->max_age.AddSmallest(argument);
  } else if (EqualsIgnoringCase(element.name, "s-maxage")) {
    to->s_maxage.AddSmallest(argument);
  } else if (EqualsIgnoringCase(element.name, "stale-while-revalidate")) {
    to->stale_while_revalidate.AddSmallest(argument);
  } else if (EqualsIgnoringCase(element.name, "stale-if-error")) {
    to->stale_if_error.AddSmallest(argument);
  } else if (EqualsIgnoringCase(element.name, "min-fresh")) {
    to->min_fresh.AddLargest(argument);
  } else if (EqualsIgnoringCase(element.name, "max-stale")) {
    if (element.form == Element::Form::kBare) {
      to->accepts_any_staleness = true;
    } else {
      to->max_stale.AddSmallest(argument);
    }
  } else {
    return false;
  }
  return true;
}

void AddElement(const Element& element, CacheControl* to) {
  if (element.name.empty() || AddSeconds(element, to)) return;
  // Directives that allow something must be well-formed, unlike those that forbid something.
  const bool is_bare = element.form == Element::Form::kBare;
  if (EqualsIgnoringCase(element.name, "no-store")) {
    to->no_store = true;
  } else if (EqualsIgnoringCase(element.name, "no-cache")) {
    AddQualified(element, &to->no_cache);
  } else if (EqualsIgnoringCase(element.name, "private")) {
    AddQualified(element, &to->is_private);
  } else if (EqualsIgnoringCase(element.name, "public")) {
    to->is_public = to->is_public || is_bare;
  } else if (EqualsIgnoringCase(element.name, "must-revalidate")) {
    to->must_revalidate = true;
  } else if (EqualsIgnoringCase(element.name, "proxy-revalidate")) {
    to->proxy_revalidate = true;
  } else if (EqualsIgnoringCase(element.name, "must-understand")) {
    to->must_understand = to->must_understand || is_bare;
  } else if (EqualsIgnoringCase(element.name, "no-transform")) {
    to->no_transform = true;
  } else if (EqualsIgnoringCase(element.name, "only-if-cached")) {
    to->only_if_cached = true;
  }
}

// Converts a member of a dictionary to an element. Booleans become elements without an argument;
// `?0` becomes kGarbled, with which only directives that forbid something count.
Element ElementOf(const DictionaryMember& member) {
  Element element;
  element.name = member.key;
  element.form = Element::Form::kGarbled;
  if (member.type == StructuredType::kBoolean) {
    element.form = member.boolean ? Element::Form::kBare : Element::Form::kGarbled;
  } else if (member.type == StructuredType::kString || member.type == StructuredType::kToken) {
    const bool has_escapes = member.text.find('\\') != std::string_view::npos;
    element.argument = member.text;
    element.form = has_escapes ? Element::Form::kGarbled : Element::Form::kArgument;
  }
  return element;
}

// If the member is a directive with seconds, adds it and returns true; returns false otherwise.
bool AddInteger(const DictionaryMember& member, CacheControl* to) {
  DirectiveSeconds* seconds = nullptr;
  if (member.key == "max-age") seconds = &to->max_age;
  if (member.key == "s-maxage") seconds = &to->s_maxage;
  if (member.key == "stale-while-revalidate") seconds = &to->stale_while_revalidate;
  if (member.key == "stale-if-error") seconds = &to->stale_if_error;
  if (seconds == nullptr) return false;
  if (member.type != StructuredType::kInteger || member.integer < 0 ||
      seconds->state == DirectiveSeconds::State::kInvalid) {
    seconds->Invalidate();
    return true;
  }
  const auto value =
      static_cast<uint32_t>(std::min<int64_t>(member.integer, int64_t{kDeltaSecondsMax}));
  seconds->seconds = seconds->is_valid() ? std::min(seconds->seconds, value) : value;
  seconds->state = DirectiveSeconds::State::kValid;
  return true;
}

}  // namespace

bool ParseDeltaSeconds(std::string_view text, uint32_t* seconds) {
  if (text.empty()) return false;
  uint64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(c - '0'), kDeltaSecondsMax);
  }
  *seconds = static_cast<uint32_t>(value);
  return true;
}

void DirectiveSeconds::AddSmallest(std::string_view argument) {
  uint32_t value;
  if (state == State::kInvalid) return;
  if (!ParseDeltaSeconds(argument, &value)) return Invalidate();
  seconds = is_valid() ? std::min(seconds, value) : value;
  state = State::kValid;
}

void DirectiveSeconds::AddLargest(std::string_view argument) {
  uint32_t value;
  if (state == State::kInvalid) return;
  if (!ParseDeltaSeconds(argument, &value)) return Invalidate();
  seconds = is_valid() ? std::max(seconds, value) : value;
  state = State::kValid;
}

bool QualifiedDirective::Names(std::string_view field) const {
  if (is_unqualified_) return true;
  std::string_view name;
  for (size_t i = 0; i < list_count_; ++i) {
    for (ListMembers names(lists_[i]); names.Next(&name);) {
      if (EqualNames(name, field)) return true;
    }
  }
  return false;
}

void QualifiedDirective::Add(std::string_view list) {
  is_present_ = true;
  bool names_fields = false;
  std::string_view name;
  for (ListMembers names(list); names.Next(&name);) {
    names_fields = IsToken(name);
    if (!names_fields) break;
  }
  if (!names_fields || list_count_ == kListsMax) {
    is_unqualified_ = true;
  } else {
    lists_[list_count_++] = list;
  }
}

void ReadCacheControl(std::string_view value, CacheControl* directives) {
  directives->is_present = true;
  std::string_view element;
  for (ListMembers elements(value); elements.Next(&element);) {
    const Element read = ReadElement(element);
    directives->is_garbled = directives->is_garbled || !read.is_directive;
    AddElement(read, directives);
  }
}

void TargetedCacheControl::AddLine(std::string_view line) {
  directives_.is_present = true;
  DictionaryScanner scanner(line);
  DictionaryMember member;
  DictionaryScanner::Step step = scanner.Next(&member);
  has_empty_line_ = has_empty_line_ || step == DictionaryScanner::Step::kEnd;
  for (; step == DictionaryScanner::Step::kMember; step = scanner.Next(&member)) {
    has_members_ = true;
    if (!AddInteger(member, &directives_)) AddElement(ElementOf(member), &directives_);
  }
  is_broken_ = is_broken_ || step == DictionaryScanner::Step::kError;
}

}  // namespace httpsys::semantics
