#pragma once
// Short texts with a maximum length, stored without an allocation.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace httpsys::semantics {

// Maximum number of digits of a 64-bit number in base 10 or above.
inline constexpr size_t kNumberBytesMax = 20;

// A text of at most `bytes_max` bytes. Appending more is a defect, and ends the process.
template <size_t bytes_max>
class FixedText {
 public:
  FixedText& Add(std::string_view text) {
    HTTPSYS_CHECK(text.size() <= bytes_max - size_);
    std::copy(text.begin(), text.end(), bytes_.begin() + static_cast<ptrdiff_t>(size_));
    size_ += text.size();
    return *this;
  }

  // Appends a number with lower-case digits.
  FixedText& AddNumber(uint64_t number, int base = 10) {
    std::array<char, kNumberBytesMax> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    return Add({digits.data(), static_cast<size_t>(end - digits.data())});
  }

  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, bytes_max> bytes_;
  size_t size_ = 0;
};

}  // namespace httpsys::semantics
