#pragma once
// What a lane has counted since it started.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace httpsys::engine {

// The fixed set of counters. An answer without JavaScript counts as exactly one of the first three;
// where nothing was sent but a reset, as kReset, too.
enum class LaneCounter : uint8_t {
  kUnrouted,     // No prefix owns the request: 400, 404, 421.
  kUnavailable,  // Its owner is away or does not keep up: 503.
  kRefused,      // The message is malformed, too large or too slow: 400, 408, 413, 431.
  kReset,        // The request ended with a reset instead of an answer.
  kSlowReaders,  // Connections that ended because the client took less than minSendRate.
  kCount,
};

// One writer, so that counting takes no locked instruction. Thread: Add() the lane, Read() any.
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
