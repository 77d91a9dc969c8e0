#pragma once
// Requests as they are often found on the web: key n is asked for in proportion to 1 / n^0.9.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace httpsys::cache {

class ZipfTrace {
 public:
  ZipfTrace(size_t keys, uint64_t seed) : sums_(keys), random_(seed) {
    double sum = 0;
    for (size_t i = 0; i < keys; ++i)
      sums_[i] = sum += 1 / std::pow(static_cast<double>(i + 1), 0.9);
    // Where to begin to look, for each part of the whole.
    for (size_t part = 0, key = 0; part <= kParts; ++part) {
      while (key < keys - 1 && sums_[key] < sum * static_cast<double>(part) / kParts) ++key;
      begins_.push_back(key);
    }
  }

  // The next key, from 0.
  uint64_t Next() {
    const double x = static_cast<double>(random_() >> 11) * 0x1p-53;
    const auto part = static_cast<size_t>(x * kParts);
    const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(begins_[part]);
    const auto end = sums_.begin() + static_cast<std::ptrdiff_t>(begins_[part + 1] + 1);
    return static_cast<uint64_t>(std::lower_bound(begin, end, x * sums_.back()) - sums_.begin());
  }

  // The hit rate of a cache that always holds the most popular keys.
  double Ideal(size_t entries) const { return sums_[entries - 1] / sums_.back(); }

 private:
  static constexpr size_t kParts = 65536;

  std::vector<double> sums_;
  std::vector<size_t> begins_;
  std::mt19937_64 random_;
};

}  // namespace httpsys::cache
