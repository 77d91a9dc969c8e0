#include "websocket/utf8.h"

#include <cstddef>
#include <cstring>

namespace httpsys::websocket {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080u;
constexpr ptrdiff_t kStride = 4 * sizeof(uint64_t);

uint64_t Load(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

const uint8_t* SkipAscii(const uint8_t* p, const uint8_t* end) {
  while (end - p >= kStride &&
         ((Load(p) | Load(p + 8) | Load(p + 16) | Load(p + 24)) & kHighBits) == 0) {
    p += kStride;
  }
  while (end - p >= 8 && (Load(p) & kHighBits) == 0) p += 8;
  while (p != end && *p < 0x80) ++p;
  return p;
}

bool IsWithin(uint8_t c, uint8_t low, uint8_t high) { return c >= low && c <= high; }

// The continuation of a character: the number of bytes that must follow its first byte, and the
// range of the next one. `missing` is 0 if no character begins with the byte.
struct Rest {
  uint8_t missing;
  uint8_t low;
  uint8_t high;
};

Rest RestOf(uint8_t first) {
  if (first < 0xc2) return {0, 0x80, 0xbf};
  if (first < 0xe0) return {1, 0x80, 0xbf};
  if (first == 0xe0) return {2, 0xa0, 0xbf};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first < 0xf0) return {2, 0x80, 0xbf};
  if (first == 0xf0) return {3, 0x90, 0xbf};
  if (first < 0xf4) return {3, 0x80, 0xbf};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  return {0, 0x80, 0xbf};
}

// Returns the length of the character at `p`, which must not be ASCII; 0 if it is invalid. Four
// bytes must be readable. Checks all bytes together: in most scripts no character is ASCII.
size_t CharacterBytes(const uint8_t* p) {
  const uint32_t word = p[0] | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
  const uint32_t second = word >> 8 & 0x3f;
  if ((word & 0x00c0c0f0) == 0x008080e0) {
    const uint32_t high_bits = (word & 0x0f) << 6 | second;
    return high_bits >= 0x800 >> 6 && high_bits >> 5 != 0xd800 >> 11 ? 3 : 0;
  }
  if ((word & 0xc0e0) == 0x80c0) return (word & 0x1e) != 0 ? 2 : 0;
  if ((word & 0xc0c0c0f8) == 0x808080f0) {
    const uint32_t high_bits = (word & 0x07) << 6 | second;
    return high_bits >= 0x10000 >> 12 && high_bits <= 0x10ffff >> 12 ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool Utf8Validator::Take(uint8_t c) {
  if (missing_ > 0) {
    if (!IsWithin(c, low_, high_)) return false;
    --missing_;
    low_ = 0x80;
    high_ = 0xbf;
    return true;
  }
  if (c < 0x80) return true;
  const Rest rest = RestOf(c);
  missing_ = rest.missing;
  low_ = rest.low;
  high_ = rest.high;
  return rest.missing > 0;
}

bool Utf8Validator::Add(std::string_view piece) {
  const auto* p = reinterpret_cast<const uint8_t*>(piece.data());
  const uint8_t* const end = p + piece.size();
  while (is_valid_ && missing_ > 0 && p != end) is_valid_ = Take(*p++);
  while (is_valid_ && p != end) {
    p = SkipAscii(p, end);
    while (end - p >= 4 && *p >= 0x80) {
      const size_t bytes = CharacterBytes(p);
      if (bytes == 0) return is_valid_ = false;
      p += bytes;
    }
    if (end - p < 4) {
      while (is_valid_ && p != end) is_valid_ = Take(*p++);
    }
  }
  return is_valid_;
}

bool IsUtf8(std::string_view text) {
  Utf8Validator validator;
  validator.Add(text);
  return validator.is_complete();
}

}  // namespace httpsys::websocket
