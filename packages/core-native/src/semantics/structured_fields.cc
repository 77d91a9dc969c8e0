#include "semantics/structured_fields.h"

#include "base/ascii.h"
#include "http1/char_class.h"

namespace httpsys::semantics {
namespace {

// Maximum digits of an integer, and of a decimal before and behind its point (RFC 9651, 4.2.4).
constexpr size_t kIntegerDigitsMax = 15;
constexpr size_t kWholeDigitsMax = 12;
constexpr size_t kFractionDigitsMax = 3;

bool IsLowerAlpha(char c) { return c >= 'a' && c <= 'z'; }

bool IsKeyChar(char c) {
  return IsLowerAlpha(c) || IsDigit(c) || c == '_' || c == '-' || c == '.' || c == '*';
}

bool IsTokenChar(char c) { return http1::HasClass(c, http1::kTokenChar) || c == ':' || c == '/'; }

bool IsBase64Char(char c) { return IsAlpha(c) || IsDigit(c) || c == '+' || c == '/'; }

bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

bool IsPrintable(char c) { return c >= 0x20 && c <= 0x7e; }

// Returns how many characters at the beginning of a text satisfy `is_wanted`.
template <typename Predicate>
size_t CountWhile(std::string_view text, Predicate is_wanted) {
  size_t count = 0;
  while (count < text.size() && is_wanted(text[count])) ++count;
  return count;
}

}  // namespace

DictionaryScanner::DictionaryScanner(std::string_view line) : rest_(line) {
  SkipSpaces();
  while (!rest_.empty() && rest_.back() == ' ') rest_.remove_suffix(1);
  if (rest_.empty()) state_ = Step::kEnd;
}

DictionaryScanner::Step DictionaryScanner::Next(DictionaryMember* member) {
  if (state_ != Step::kMember) return state_;
  *member = {};
  bool is_valid = ScanKey(&member->key);
  if (is_valid && Skip('=')) {
    is_valid = ScanItem(member);
  } else {
    member->boolean = true;
    is_valid = is_valid && ScanParameters();
  }
  if (!is_valid || !ScanSeparator()) return state_ = Step::kError;
  if (rest_.empty()) state_ = Step::kEnd;
  return Step::kMember;
}

bool DictionaryScanner::Skip(char c) {
  if (rest_.empty() || rest_.front() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

void DictionaryScanner::SkipSpaces() {
  rest_.remove_prefix(CountWhile(rest_, [](char c) { return c == ' '; }));
}

// Reads the separator after a member. After a comma another member must follow. The white space
// around the comma may include tabs.
bool DictionaryScanner::ScanSeparator() {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  rest_.remove_prefix(CountWhile(rest_, is_space));
  if (rest_.empty()) return true;
  if (!Skip(',')) return false;
  rest_.remove_prefix(CountWhile(rest_, is_space));
  return !rest_.empty();
}

bool DictionaryScanner::ScanKey(std::string_view* key) {
  if (rest_.empty() || (!IsLowerAlpha(rest_.front()) && rest_.front() != '*')) return false;
  *key = rest_.substr(0, CountWhile(rest_, IsKeyChar));
  rest_.remove_prefix(key->size());
  return true;
}

bool DictionaryScanner::ScanItem(DictionaryMember* member) {
  if (Skip('(')) {
    member->type = StructuredType::kInnerList;
    return ScanInnerList() && ScanParameters();
  }
  return ScanBareItem(member) && ScanParameters();
}

bool DictionaryScanner::ScanBareItem(DictionaryMember* member) {
  if (rest_.empty()) return false;
  const char c = rest_.front();
  if (c == '-' || IsDigit(c)) return ScanNumber(member);
  if (c == '"') return ScanString(member);
  if (c == '*' || IsAlpha(c)) return ScanToken(member);
  if (c == '?') return ScanBoolean(member);
  if (c == '@') return ScanDate(member);
  member->type = c == ':' ? StructuredType::kBytes : StructuredType::kDisplayString;
  return c == ':' ? ScanBytes() : c == '%' && ScanDisplayString();
}

bool DictionaryScanner::ScanNumber(DictionaryMember* member) {
  const bool is_negative = Skip('-');
  const size_t digits = CountWhile(rest_, IsDigit);
  if (digits == 0 || digits > kIntegerDigitsMax) return false;
  member->type = StructuredType::kInteger;
  member->integer = 0;
  for (const char c : rest_.substr(0, digits)) member->integer = member->integer * 10 + (c - '0');
  if (is_negative) member->integer = -member->integer;
  rest_.remove_prefix(digits);
  if (!Skip('.')) return true;
  member->type = StructuredType::kDecimal;
  const size_t fraction = CountWhile(rest_, IsDigit);
  rest_.remove_prefix(fraction);
  return digits <= kWholeDigitsMax && fraction > 0 && fraction <= kFractionDigitsMax;
}

bool DictionaryScanner::ScanString(DictionaryMember* member) {
  member->type = StructuredType::kString;
  for (size_t at = 1; at < rest_.size(); ++at) {
    const char c = rest_[at];
    if (c == '"') {
      member->text = rest_.substr(1, at - 1);
      rest_.remove_prefix(at + 1);
      return true;
    }
    if (!IsPrintable(c)) return false;
    if (c != '\\') continue;
    ++at;
    if (at == rest_.size() || (rest_[at] != '"' && rest_[at] != '\\')) return false;
  }
  return false;
}

bool DictionaryScanner::ScanToken(DictionaryMember* member) {
  member->type = StructuredType::kToken;
  member->text = rest_.substr(0, CountWhile(rest_, IsTokenChar));
  rest_.remove_prefix(member->text.size());
  return true;
}

// The padding is not checked, as RFC 9651, section 4.2.7, allows.
bool DictionaryScanner::ScanBytes() {
  rest_.remove_prefix(1);
  rest_.remove_prefix(CountWhile(rest_, IsBase64Char));
  rest_.remove_prefix(CountWhile(rest_, [](char c) { return c == '='; }));
  return Skip(':');
}

bool DictionaryScanner::ScanBoolean(DictionaryMember* member) {
  rest_.remove_prefix(1);
  member->type = StructuredType::kBoolean;
  member->boolean = Skip('1');
  return member->boolean || Skip('0');
}

bool DictionaryScanner::ScanDate(DictionaryMember* member) {
  rest_.remove_prefix(1);
  if (rest_.empty() || !ScanNumber(member) || member->type != StructuredType::kInteger) {
    return false;
  }
  member->type = StructuredType::kDate;
  return true;
}

// Does not check that the bytes after the percent signs are UTF-8, because no caller uses them.
bool DictionaryScanner::ScanDisplayString() {
  rest_.remove_prefix(1);
  if (!Skip('"')) return false;
  for (size_t at = 0; at < rest_.size(); ++at) {
    const char c = rest_[at];
    if (c == '"') {
      rest_.remove_prefix(at + 1);
      return true;
    }
    if (!IsPrintable(c)) return false;
    if (c != '%') continue;
    if (rest_.size() - at < 3 || !IsLowerHex(rest_[at + 1]) || !IsLowerHex(rest_[at + 2])) {
      return false;
    }
    at += 2;
  }
  return false;
}

// Reads an inner list from behind its opening parenthesis.
bool DictionaryScanner::ScanInnerList() {
  DictionaryMember ignored;
  while (true) {
    SkipSpaces();
    if (Skip(')')) return true;
    if (!ScanBareItem(&ignored) || !ScanParameters()) return false;
    if (rest_.empty() || (rest_.front() != ' ' && rest_.front() != ')')) return false;
  }
}

bool DictionaryScanner::ScanParameters() {
  std::string_view key;
  DictionaryMember ignored;
  while (Skip(';')) {
    SkipSpaces();
    if (!ScanKey(&key)) return false;
    if (Skip('=') && !ScanBareItem(&ignored)) return false;
  }
  return true;
}

}  // namespace httpsys::semantics
