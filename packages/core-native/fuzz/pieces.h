#pragma once
// Cuts an input into pieces, each in memory of its own size, so that a byte read too far is seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace httpsys::fuzz {

inline void Check(bool promise) {
  if (!promise) std::abort();
}

class Copy {
 public:
  explicit Copy(std::string_view text) : bytes_(new char[text.size()]), size_(text.size()) {
    if (size_ > 0) std::memcpy(bytes_.get(), text.data(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

// Piece sizes that follow from a byte of the input: 0 cuts nowhere, 1 at every byte.
class PieceSizes {
 public:
  explicit PieceSizes(uint8_t seed) : seed_(seed), state_(seed * 2654435761u + 1) {}
  size_t Next(size_t left) {
    if (seed_ == 0) return left;
    if (seed_ == 1) return std::min<size_t>(1, left);
    state_ = state_ * 1664525u + 1013904223u;
    return std::min<size_t>(1 + (state_ >> 24) % seed_, left);
  }

 private:
  uint8_t seed_;
  uint32_t state_;
};

}  // namespace httpsys::fuzz
