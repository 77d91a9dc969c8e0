#pragma once
// Members of field values that are lists (RFC 9110, section 5.6.1).

#include <cstddef>
#include <string_view>

namespace httpsys::semantics {

// Optional white space of field values: OWS of RFC 9110, section 5.6.3.
inline constexpr std::string_view kWhiteSpace = " \t";

// Returns `text` without the spaces and tabs at its beginning.
constexpr std::string_view TrimStart(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// Returns `text` without the spaces and tabs around it.
constexpr std::string_view Trim(std::string_view text) {
  text = TrimStart(text);
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

// Splits a field value at its commas, except within quotes. Several lines of the field must be
// joined with commas. Members have no white space around them; empty ones are skipped. An open
// quote extends to the end. Allocates nothing, and reads each byte once. Thread: any, one at a
// time.
class ListMembers {
 public:
  explicit ListMembers(std::string_view value) : left_(value) {}

  // Moves to the next member. Returns false after the last one.
  [[nodiscard]] bool Next(std::string_view* member) {
    while (!left_.empty()) {
      const size_t bytes = MemberBytes();
      *member = Trim(left_.substr(0, bytes));
      left_.remove_prefix(bytes == left_.size() ? bytes : bytes + 1);
      if (!member->empty()) return true;
    }
    return false;
  }

 private:
  size_t MemberBytes() const {
    bool is_quoted = false;
    for (size_t at = 0; at < left_.size(); ++at) {
      const char c = left_[at];
      if (c == ',' && !is_quoted) return at;
      if (c == '"') is_quoted = !is_quoted;
      // A backslash escapes the next byte.
      if (c == '\\' && is_quoted) ++at;
    }
    return left_.size();
  }

  std::string_view left_;
};

}  // namespace httpsys::semantics
