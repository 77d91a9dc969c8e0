#pragma once
// Token buckets: a limit on bytes per second that several takers share in turn, and a limit on
// events.

#include <cstdint>
#include <mutex>

namespace httpsys {

// A token bucket with a queue. Grants bytes in the order of the requests: if too few are left, the
// taker gets a ticket for its next piece, and later takers queue behind it. So a taker's wait
// depends on the number of the others, not on the bytes that they want. The caller passes the time,
// which must never go back. Thread: any.
class RateBucket {
 public:
  // `rate` is in bytes per second, at least 1.
  RateBucket(uint64_t rate, uint64_t now_ns);
  RateBucket& operator=(RateBucket&&) = delete;

  // Sets the number of owners that share the rate equally: this bucket gets one owner's part of the
  // rate and of the burst. Tickets keep their order, and are due according to the new part.
  void SetOwners(uint64_t owners, uint64_t now_ns);

  struct Taken {
    uint64_t bytes = 0;
    // 0 = the bytes may be sent now; otherwise they may be sent when WaitNs(ticket) returns 0.
    uint64_t ticket = 0;
  };
  // Grants at least one byte and at most `want`, which must be above 0.
  Taken Take(uint64_t want, uint64_t now_ns);
  // Returns the time until the ticket is due at the present rate; 0 = it is due.
  uint64_t WaitNs(uint64_t ticket, uint64_t now_ns);
  // Returns bytes that were taken and will not be sent. If they had a ticket, it becomes void.
  void Return(uint64_t bytes, uint64_t now_ns);

 private:
  void Refill(uint64_t now_ns);
  void LimitBurst();

  std::mutex mutex_;
  const uint64_t whole_rate_;
  uint64_t rate_ = 0;         // Bytes per second of this owner's part.
  uint64_t burst_bytes_ = 0;  // Most bytes that are left after a pause.
  uint64_t turn_bytes_ = 0;   // Most bytes of one ticket.
  // Totals since the bucket was made: bytes taken (with and without tickets) and bytes granted.
  // While a taker waits, taken_ is above granted_.
  uint64_t taken_ = 0;
  uint64_t granted_ = 0;
  uint64_t refilled_ns_ = 0;  // Time up to which granted_ is counted.
  uint64_t rest_ = 0;         // Fraction of the next granted byte, in billionths.
};

// Limits how often a client may do things that cost the server more than they are worth.
// A token bucket. Thread: any, one at a time.
struct Allowance {
  uint32_t used = 0;
  uint64_t second = 0;

  // Counts one event. Returns false beyond `most` at once, or `per_second` on average.
  bool Take(uint64_t now_ms, uint32_t most, uint32_t per_second);
};

}  // namespace httpsys
