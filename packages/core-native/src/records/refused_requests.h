#pragma once
// The requests that a lane has refused while they waited for JavaScript, which must not begin them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "records/request_queue.h"

namespace httpsys {

// A request is named by the position of its record in the lane's queue: RequestQueue::appended()
// right behind it. No two requests have the same position, whichever connection or slot they have.
// An entry is removed when JavaScript asks about its request or a later one, so a request that
// JavaScript skips (its socket is destroyed) leaves nothing behind.
class RefusedRequests {
 public:
  // `count` is set to the number of entries. JavaScript reads it before it asks.
  explicit RefusedRequests(std::atomic<uint32_t>* count) : count_(count) {}

  // Refuses a request. Must be called before the client is answered. Returns false if JavaScript
  // has begun the request meanwhile and will answer it. Thread: the lane.
  bool Claim(uint64_t end, const RequestQueue& queue) {
    const std::lock_guard lock(mutex_);
    ends_.insert(end);
    Tell();
    // JavaScript stores its position before it reads the count. So either begun() shows here that
    // it has come to the request, or it sees the entry; a question it asks now waits for the mutex.
    if (queue.begun() < end) return true;
    ends_.erase(end);
    Tell();
    return false;
  }

  // Returns true if the request that JavaScript is about to begin was refused. Thread: JavaScript.
  bool Take(uint64_t end) {
    const std::lock_guard lock(mutex_);
    const bool was_there = ends_.erase(end) != 0;
    ends_.erase(ends_.begin(), ends_.lower_bound(end));
    Tell();
    return was_there;
  }

 private:
  void Tell() { count_->store(static_cast<uint32_t>(ends_.size()), std::memory_order_seq_cst); }

  std::atomic<uint32_t>* count_;
  std::mutex mutex_;
  std::set<uint64_t> ends_;
};

}  // namespace httpsys
