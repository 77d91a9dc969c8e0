#pragma once
// Optional white space of field values: OWS of RFC 9110, section 5.6.3.

#include <cstddef>
#include <string_view>

namespace httpsys::semantics {

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

}  // namespace httpsys::semantics
