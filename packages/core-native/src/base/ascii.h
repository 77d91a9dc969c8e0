#pragma once
// Locale-independent functions for the ASCII letters and digits of names in HTTP and URLs.

#include <cstddef>
#include <string_view>

namespace httpsys {

constexpr bool IsAlpha(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Returns true if the texts are equal except for case. `lower` must be in lower case.
constexpr bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); i++) {
    if (LowerCase(text[i]) != lower[i]) return false;
  }
  return true;
}

// Returns true if `text` begins with `lower`, except for case. `lower` must be in lower case.
constexpr bool StartsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && EqualsIgnoringCase(text.substr(0, lower.size()), lower);
}

}  // namespace httpsys
