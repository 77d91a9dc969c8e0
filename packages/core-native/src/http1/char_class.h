#pragma once
// Classes of bytes, by the parts of a request head that may contain them. Node's
// llhttp has the same sets in strict mode.

#include <array>
#include <cstdint>
#include <string_view>

namespace httpsys::http1 {

enum CharClass : uint8_t {
  kTokenChar = 1,       // Characters of a token: RFC 9110, section 5.6.2.
  kFieldValueChar = 2,  // HTAB, SP, VCHAR, obs-text.
  kTargetChar = 4,      // Path: any visible ASCII but '?' and '#', which begin the next part.
  kAuthorityChar = 8,   // Host, port and user information, without '@'.
  kQuotedChar = 16,     // Between the quotes of a chunk extension, unless escaped.
};

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; c++) {
    const bool is_alnum =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool is_visible = c > 0x20 && c < 0x7F;
    const auto is_one_of = [c](std::string_view set) {
      return c < 0x80 && set.find(static_cast<char>(c)) != std::string_view::npos;
    };
    uint8_t bits = 0;
    if (is_alnum || is_one_of("!#$%&'*+-.^_`|~")) bits |= kTokenChar;
    if (c == '\t' || (c >= 0x20 && c != 0x7F)) bits |= kFieldValueChar;
    if (is_visible && c != '?' && c != '#') bits |= kTargetChar;
    if (is_alnum || is_one_of("-_.!~*'()%;:&=+$,[]")) bits |= kAuthorityChar;
    if ((bits & kFieldValueChar) != 0 && c != '"' && c != '\\') bits |= kQuotedChar;
    classes[static_cast<size_t>(c)] = bits;
  }
  return classes;
}();

constexpr bool HasClass(char c, CharClass wanted) {
  return (kCharClasses[static_cast<uint8_t>(c)] & wanted) != 0;
}

}  // namespace httpsys::http1
