#pragma once
// The requests that a lane has claimed back while they waited for JavaScript. JavaScript must not
// begin them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/thread.h"
#include "records/records.h"
#include "records/request_queue.h"

namespace httpsys {

// A request is identified by the position in the lane's queue behind its record:
// RequestQueue::appended(). Positions are unique among all connections and slots. An entry is
// removed when JavaScript asks about its request or a later one; so a request that JavaScript
// skips, because its socket is destroyed, leaves no entry behind.
//
// Exactly one of lane and JavaScript gets a request. The lane stores the number of entries and then
// reads the position of JavaScript; JavaScript stores its position and then reads the number. A
// barrier between the two makes at least one of them see the other. The lane, which rarely claims,
// makes the barrier for both (MakeProcessBarrier()); if it cannot, JavaScript makes its own for
// each request with kFlagClaimable. If the lane sees that JavaScript has reached the request, it
// gives the claim up. If JavaScript sees an entry, it asks, and the mutex makes it wait for the
// lane's decision.
class ClaimedRequests {
 public:
  using Claim = records::Claim;

  // Stores the number of entries in `count`, which JavaScript reads before it asks. With
  // `may_use_barrier` false, acts as if there were no process barrier.
  explicit ClaimedRequests(std::atomic<uint32_t>* count, bool may_use_barrier = true)
      : count_(count), may_use_barrier_(may_use_barrier) {}

  // True if claimable requests need kFlagClaimable. Never becomes true again after it was false.
  bool needs_flag() const { return !may_use_barrier_ || !HasProcessBarrier(); }

  // Claims a request, which must have kFlagClaimable if needs_flag() was true. Must be called
  // before the lane does anything with the request. Returns false if JavaScript has begun the
  // request and will answer it. Thread: the lane.
  bool Add(uint64_t end, Claim claim, const RequestQueue& queue) {
    const std::lock_guard lock(mutex_);
    const auto entry = claims_.insert_or_assign(end, claim).first;
    Tell();
    if (!needs_flag()) MakeProcessBarrier();
    if (queue.begun() < end) return true;
    claims_.erase(entry);
    Tell();
    return false;
  }

  // Returns whether, and how, the lane has claimed the request that JavaScript is about to begin.
  // Thread: JavaScript.
  Claim Take(uint64_t end) {
    const std::lock_guard lock(mutex_);
    const auto found = claims_.find(end);
    const Claim claim = found == claims_.end() ? Claim::kNone : found->second;
    claims_.erase(claims_.begin(), claims_.upper_bound(end));
    Tell();
    return claim;
  }

 private:
  void Tell() { count_->store(static_cast<uint32_t>(claims_.size()), std::memory_order_seq_cst); }

  std::atomic<uint32_t>* count_;
  const bool may_use_barrier_;
  std::mutex mutex_;
  std::map<uint64_t, Claim> claims_;
};

}  // namespace httpsys
