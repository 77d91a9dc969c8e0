#pragma once
// Checks UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.

#include <cstdint>
#include <string_view>

namespace httpsys::websocket {

// Checks a text piece by piece. Ready for the next text after a valid one. Thread: one at a time.
class Utf8Validator {
 public:
  // Adds a piece. Returns false, from then on, if no continuation can make the text valid.
  bool Add(std::string_view piece);
  // True if everything added is valid and ends with a whole character.
  bool is_complete() const { return is_valid_ && missing_ == 0; }
  bool is_valid() const { return is_valid_; }

 private:
  bool Take(uint8_t c);

  bool is_valid_ = true;
  // Continuation bytes that the current character still needs, and the range of the next one.
  uint8_t missing_ = 0;
  uint8_t low_ = 0x80;
  uint8_t high_ = 0xbf;
};

bool IsUtf8(std::string_view text);

}  // namespace httpsys::websocket
