#pragma once
// Requests that the lane has refused while they waited for JavaScript, which must not begin them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace httpsys::engine {

class RefusedSlots {
 public:
  // `count` is what JavaScript looks at before it asks.
  explicit RefusedSlots(std::atomic<uint32_t>* count) : count_(count) {}

  // Thread: the lane. Before the client can know.
  void Add(uint32_t slot) {
    const std::lock_guard lock(mutex_);
    slots_.insert(slot);
    Tell();
  }

  // Thread: JavaScript, which has come to the request. True: it was refused.
  bool Take(uint32_t slot) {
    const std::lock_guard lock(mutex_);
    const bool was_there = slots_.erase(slot) != 0;
    Tell();
    return was_there;
  }

 private:
  void Tell() { count_->store(static_cast<uint32_t>(slots_.size()), std::memory_order_release); }

  std::atomic<uint32_t>* count_;
  std::mutex mutex_;
  std::unordered_set<uint32_t> slots_;
};

}  // namespace httpsys::engine
