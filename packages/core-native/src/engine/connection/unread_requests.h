#pragma once
// The servers' request queues: requests that were given to JavaScript and that it has not begun.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace httpsys::engine {

// The requests of one attachment, for all its servers. The counters are shared by all lanes.
// Thread: the lane.
class UnreadRequests {
 public:
  using Counter = std::atomic<uint64_t>;

  struct Item {
    uint64_t end = 0;  // RequestQueue::appended() behind the request's record: names the request.
    Counter* counter = nullptr;  // nullptr = not counted any more.
    uint64_t deadline_ms = 0;    // 0 = it may wait without limit.
    uint32_t slot = 0;
    uint32_t prefix_id = 0;
    bool is_head = false;     // The method is HEAD.
    bool is_first = false;    // No other request of its connection is unanswered.
    bool is_movable = false;  // Another owner of the queue can get it instead.
    // The request as received, so that it can be read again. Empty unless it is movable, and for a
    // stream, which keeps its request itself.
    std::string bytes;
  };

  // `bytes` are those of the item.
  void Add(const Item& item, std::string_view bytes = {}) {
    if (count_ == ring_.size()) Resize(ring_.size() * 2);
    Item& added = ring_[(first_ + count_) % ring_.size()];
    added = item;
    added.bytes.assign(bytes);
    ++count_;
    if (item.is_movable) ++movable_;
    item.counter->fetch_add(1, std::memory_order_relaxed);
    if (item.deadline_ms != 0) next_deadline_ms_ = std::min(next_deadline_ms_, item.deadline_ms);
  }

  // Removes the requests that JavaScript has begun: those up to `begun`.
  void Settle(uint64_t begun) {
    while (count_ != 0 && ring_[first_].end <= begun) {
      Item& item = ring_[first_];
      Leave(&item);
      // Most requests fit, so that the memory of the ring serves again and again.
      if (item.bytes.capacity() > limits::kUnreadBytesKept) item.bytes = {};
      first_ = (first_ + 1) % ring_.size();
      --count_;
    }
    if (count_ == 0 && ring_.size() > limits::kUnreadItemsKept) Resize(kItems);
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

  // All but those that were taken.
  std::vector<Item> All() const {
    std::vector<Item> all;
    for (size_t i = 0; i < count_; ++i) {
      const Item& item = ring_[(first_ + i) % ring_.size()];
      if (item.counter != nullptr) all.push_back(item);
    }
    return all;
  }

  // What TakeMovable() does with a request.
  enum class Fate : uint8_t { kStays, kTaken, kStop };
  bool has_movable() const { return movable_ != 0; }
  // Asks `decide` about each request, the last one first, until it says kStop or no movable one is
  // left. A request that is taken does not count any more; its item stays until Settle() has come
  // past it.
  template <typename Decide>
  void TakeMovable(Decide decide) {
    for (size_t i = count_; i-- != 0 && movable_ != 0;) {
      Item& item = ring_[(first_ + i) % ring_.size()];
      if (item.counter == nullptr) continue;
      const Fate fate = decide(item);
      if (fate == Fate::kStop) return;
      if (fate == Fate::kTaken) Leave(&item);
    }
  }

 private:
  static constexpr size_t kItems = 64;

  void Leave(Item* item) {
    if (item->is_movable) --movable_;
    item->is_movable = false;
    item->deadline_ms = 0;
    if (item->counter != nullptr) item->counter->fetch_sub(1, std::memory_order_relaxed);
    item->counter = nullptr;
  }

  void Resize(size_t size) {
    std::vector<Item> items(size);
    for (size_t i = 0; i < count_; ++i) {
      items[i] = std::move(ring_[(first_ + i) % ring_.size()]);
    }
    ring_.swap(items);
    first_ = 0;
  }

  std::vector<Item> ring_ = std::vector<Item>(kItems);
  size_t first_ = 0;
  size_t count_ = 0;
  size_t movable_ = 0;
  uint64_t next_deadline_ms_ = UINT64_MAX;  // The earliest deadline, or a time before it.
};

}  // namespace httpsys::engine
