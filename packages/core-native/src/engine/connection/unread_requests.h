#pragma once
// The servers' request queues: requests that were given to JavaScript and that it has not begun.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace httpsys::engine {

// The requests of one attachment, for all its servers. The counters are shared by all lanes.
// Thread: the lane.
class UnreadRequests {
 public:
  using Counter = std::atomic<uint64_t>;

  struct Item {
    uint64_t end = 0;  // RequestQueue::appended() behind the request's record: names the request.
    Counter* counter = nullptr;
    uint64_t deadline_ms = 0;  // 0 = it may wait without limit.
    uint32_t slot = 0;
    bool is_head = false;   // The method is HEAD.
    bool is_first = false;  // No other request of its connection is unanswered.
  };

  void Add(const Item& item) {
    if (count_ == ring_.size()) Grow();
    ring_[(first_ + count_) % ring_.size()] = item;
    ++count_;
    item.counter->fetch_add(1, std::memory_order_relaxed);
    if (item.deadline_ms != 0) next_deadline_ms_ = std::min(next_deadline_ms_, item.deadline_ms);
  }

  // Removes the requests that JavaScript has begun: those up to `begun`.
  void Settle(uint64_t begun) {
    while (count_ != 0 && ring_[first_].end <= begun) {
      ring_[first_].counter->fetch_sub(1, std::memory_order_relaxed);
      first_ = (first_ + 1) % ring_.size();
      --count_;
    }
  }

  // The requests whose deadline has passed. Each is returned once, and stays in the queue.
  bool HasOverdue(uint64_t now_ms) const { return next_deadline_ms_ <= now_ms; }
  std::vector<Item> TakeOverdue(uint64_t now_ms) {
    std::vector<Item> overdue;
    next_deadline_ms_ = UINT64_MAX;
    for (size_t i = 0; i < count_; ++i) {
      Item& item = ring_[(first_ + i) % ring_.size()];
      if (item.deadline_ms == 0) continue;
      if (item.deadline_ms <= now_ms) {
        overdue.push_back(item);
        item.deadline_ms = 0;
      } else {
        next_deadline_ms_ = std::min(next_deadline_ms_, item.deadline_ms);
      }
    }
    return overdue;
  }

  std::vector<Item> All() const {
    std::vector<Item> all;
    for (size_t i = 0; i < count_; ++i) all.push_back(ring_[(first_ + i) % ring_.size()]);
    return all;
  }

 private:
  void Grow() {
    std::vector<Item> larger(ring_.size() * 2);
    for (size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<Item> ring_ = std::vector<Item>(64);
  size_t first_ = 0;
  size_t count_ = 0;
  uint64_t next_deadline_ms_ = UINT64_MAX;  // The earliest deadline, or a time before it.
};

}  // namespace httpsys::engine
