#pragma once
// Splits an input into lines.

#include <cstddef>
#include <string_view>

namespace httpsys::fuzz {

// Returns the first line of the text, and removes it.
inline std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

}  // namespace httpsys::fuzz
