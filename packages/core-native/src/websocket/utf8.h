#pragma once
// Whether bytes are UTF-8 as RFC 3629 has it: nothing overlong, no surrogates, nothing beyond
// U+10FFFF.

#include <cstdint>
#include <string_view>

namespace httpsys::websocket {

// Looks at a text piece by piece; after a good one it is ready for the next. Thread: any, one at a
// time.
class Utf8Validator {
 public:
  // False as soon as no continuation can make it valid; stays false.
  bool Add(std::string_view piece);
  // Whether all that was added is valid and ends at a character's end.
  bool is_complete() const { return is_valid_ && missing_ == 0; }
  bool is_valid() const { return is_valid_; }

 private:
  bool Take(uint8_t c);

  bool is_valid_ = true;
  // Continuation bytes that the character begun still needs, and the range of the next one.
  uint8_t missing_ = 0;
  uint8_t low_ = 0x80;
  uint8_t high_ = 0xbf;
};

bool IsUtf8(std::string_view text);

}  // namespace httpsys::websocket
