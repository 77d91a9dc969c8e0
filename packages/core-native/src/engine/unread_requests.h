#pragma once
// Requests that were given to JavaScript and that it has not begun: a server's request queue.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace httpsys::engine {

// Thread: the lane. The counters are those of all lanes together.
class UnreadRequests {
 public:
  using Counter = std::atomic<uint64_t>;

  // `end` is RequestQueue::appended() behind the request's record.
  void Add(uint64_t end, Counter* counter) {
    if (count_ == ring_.size()) Grow();
    ring_[(first_ + count_) % ring_.size()] = {end, counter};
    ++count_;
    counter->fetch_add(1, std::memory_order_relaxed);
  }

  // JavaScript has read that far.
  void Settle(uint64_t consumed) {
    while (count_ != 0 && ring_[first_].end <= consumed) {
      ring_[first_].counter->fetch_sub(1, std::memory_order_relaxed);
      first_ = (first_ + 1) % ring_.size();
      --count_;
    }
  }

 private:
  struct Item {
    uint64_t end = 0;
    Counter* counter = nullptr;
  };

  void Grow() {
    std::vector<Item> larger(ring_.size() * 2);
    for (size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<Item> ring_ = std::vector<Item>(64);
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace httpsys::engine
