#pragma once
// Counters of a lane since it started.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace httpsys::engine {

// Events that a lane counts. An answer without JavaScript counts in exactly one of the first five,
// and also in kReset if only a reset was sent.
enum class LaneCounter : uint8_t {
  kFiles,               // A folder of a server gave a file, or an error such as 404.
  kCached,              // The output cache answered, by an entry or by 504.
  kUnrouted,            // No prefix owns the request: 400, 404, 421.
  kUnavailable,         // The owner is away or does not keep up: 503.
  kRefused,             // The message is malformed, too large or too slow: 400, 408, 413, 431.
  kReset,               // The request ended with a reset instead of an answer.
  kSlowReaders,         // A connection ended because the client read more slowly than minSendRate.
  kTooManyConnections,  // A connection was closed at once, because its client has too many.
  kCount,
};

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
