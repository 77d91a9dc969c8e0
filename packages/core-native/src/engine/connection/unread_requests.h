#pragma once
// The servers' request queues: requests that JavaScript has received but not begun.

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

// The requests of one attachment's servers that JavaScript has received but not begun. The counters
// are shared by all lanes. Thread: the lane.
class UnreadRequests {
 public:
  using Counter = std::atomic<uint64_t>;

  struct Item {
    // Position behind the request's record (RequestQueue::appended()). Identifies the request.
    uint64_t end = 0;
    // The counter of the request's server; nullptr = the request is no longer counted.
    Counter* counter = nullptr;
    uint64_t deadline_ms = 0;  // When the request must be refused; 0 = never.
    uint32_t slot = 0;
    uint32_t prefix_id = 0;
    uint32_t target_id = 0;   // Valid with is_movable: the id of the target in the port's routes.
    bool is_head = false;     // The method is HEAD.
    bool is_first = false;    // No other request of its connection is unanswered.
    bool is_movable = false;  // Another owner of the queue can get the request instead.
  };

  void Add(const Item& item) {
    if (count_ == ring_.size()) Resize(ring_.size() * 2);
    ring_[(first_ + count_) % ring_.size()] = item;
    ++count_;
    item.counter->fetch_add(1, std::memory_order_relaxed);
    if (item.deadline_ms != 0) next_deadline_ms_ = std::min(next_deadline_ms_, item.deadline_ms);
  }
  // Adds a request that is_movable. `bytes` is the request as received, so that it can be read
  // again; empty for a stream, which keeps its request itself.
  void AddMovable(const Item& item, std::string_view bytes) {
    Add(item);
    ++movable_;
    kept_bytes_ += bytes.size();
    if (bytes_.size() < ring_.size()) bytes_.resize(ring_.size());
    bytes_[(first_ + count_ - 1) % ring_.size()].assign(bytes);
  }

  // Removes the requests that JavaScript has begun: their `end` is at most `begun`.
  void Settle(uint64_t begun) {
    while (count_ != 0 && ring_[first_].end <= begun) {
      Leave(first_);
      first_ = (first_ + 1) % ring_.size();
      --count_;
    }
    if (count_ == 0 && ring_.size() > limits::kUnreadItemsKept) Resize(kItems);
  }

  // HasOverdue() is false if no deadline has passed. TakeOverdue() returns the requests whose
  // deadline has passed, each once; they stay in the queue.
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

  // Returns all requests that TakeMovable() has not taken.
  std::vector<Item> All() const {
    std::vector<Item> all;
    for (size_t i = 0; i < count_; ++i) {
      const Item& item = ring_[(first_ + i) % ring_.size()];
      if (item.counter != nullptr) all.push_back(item);
    }
    return all;
  }

  // The result of `decide` for one request in TakeMovable(): keep it, take it out, or stop.
  enum class Fate : uint8_t { kStays, kTaken, kStop };
  bool has_movable() const { return movable_ != 0; }
  // The bytes of movable requests.
  size_t kept_bytes() const { return kept_bytes_; }
  // Calls `decide` for each request and its bytes, from the last to the first, until it returns
  // kStop or no movable request is left. A request that was taken no longer counts; its item stays
  // until Settle() reaches it.
  template <typename Decide>
  void TakeMovable(Decide decide) {
    for (size_t i = count_; i-- != 0 && movable_ != 0;) {
      const size_t at = (first_ + i) % ring_.size();
      const Item& item = ring_[at];
      if (item.counter == nullptr) continue;
      const Fate fate = decide(item, item.is_movable ? std::string_view(bytes_[at]) : "");
      if (fate == Fate::kStop) return;
      if (fate == Fate::kTaken) Leave(at);
    }
  }

 private:
  static constexpr size_t kItems = 64;

  // Removes the request at an index from the counts, and drops its bytes.
  void Leave(size_t at) {
    Item& item = ring_[at];
    if (item.counter == nullptr) return;
    item.counter->fetch_sub(1, std::memory_order_relaxed);
    item.counter = nullptr;
    item.deadline_ms = 0;
    if (!std::exchange(item.is_movable, false)) return;
    --movable_;
    kept_bytes_ -= bytes_[at].size();
    bytes_[at].clear();
    // Free the memory only if it is large: most requests fit into kUnreadBytesKept, and the next
    // one reuses it.
    if (bytes_[at].capacity() > limits::kUnreadBytesKept) bytes_[at] = {};
  }

  void Resize(size_t size) {
    std::vector<Item> items(size);
    std::vector<std::string> bytes(bytes_.empty() ? 0 : size);
    for (size_t i = 0; i < count_; ++i) {
      const size_t at = (first_ + i) % ring_.size();
      items[i] = ring_[at];
      if (at < bytes_.size()) bytes[i] = std::move(bytes_[at]);
    }
    ring_.swap(items);
    bytes_.swap(bytes);
    first_ = 0;
  }

  std::vector<Item> ring_ = std::vector<Item>(kItems);
  std::vector<std::string> bytes_;  // The bytes of movable requests, at their places in the ring.
  size_t first_ = 0;
  size_t count_ = 0;
  size_t movable_ = 0;
  size_t kept_bytes_ = 0;
  uint64_t next_deadline_ms_ = UINT64_MAX;  // The earliest deadline or an earlier time.
};

}  // namespace httpsys::engine
