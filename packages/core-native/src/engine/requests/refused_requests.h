#pragma once
// Requests that the lane has refused while they waited for JavaScript, which must not begin them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "records/request_queue.h"

namespace httpsys::engine {

// A request is named by the position of its record in the lane's queue: RequestQueue::appended()
// right behind it. No two requests have the same one, whichever connections and slots they come
// from. An entry leaves when JavaScript asks about its request, or about any later one: a request
// that JavaScript passes over (its socket is destroyed) leaves nothing behind.
class RefusedRequests {
 public:
  // `count` is the number of entries, which JavaScript looks at before it asks.
  explicit RefusedRequests(std::atomic<uint32_t>* count) : count_(count) {}

  // Thread: the lane, before the client can know. False: JavaScript has begun the request meanwhile
  // and answers it.
  bool Claim(uint64_t end, const RequestQueue& queue) {
    const std::lock_guard lock(mutex_);
    ends_.insert(end);
    Tell();
    // JavaScript says how far it is before it looks at the count. What it asks about now waits for
    // the mutex, and finds whatever is decided here.
    if (queue.begun() < end) return true;
    ends_.erase(end);
    Tell();
    return false;
  }

  // Thread: JavaScript, which has come to the request. True: it was refused.
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

}  // namespace httpsys::engine
