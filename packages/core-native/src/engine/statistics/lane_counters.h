#pragma once
// Counters of a lane since it started.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counters.h"

namespace httpsys::engine {

// The counters of a lane. Only one thread writes, so counting needs no locked instruction. Thread:
// the lane for Add(), any for Read().
class LaneCounters {
 public:
  void Add(LaneCounter counter) {
    std::atomic<uint64_t>& value = values_[static_cast<size_t>(counter)];
    value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t Read(LaneCounter counter) const {
    return values_[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(LaneCounter::kCount)> values_{};
};

}  // namespace httpsys::engine
