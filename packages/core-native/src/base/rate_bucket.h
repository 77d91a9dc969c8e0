#pragma once
// A limit on bytes per second that several takers share in turn.

#include <cstdint>
#include <mutex>

namespace httpsys {

// A token bucket with a queue. Bytes are granted in the order in which they were asked for: a taker
// that finds too few gets a ticket for its next piece, and everybody who asks later stands behind
// it. So the time that a taker waits depends on how many others take, not on how much they want.
// The caller supplies the time, which never goes back. Thread: any.
class RateBucket {
 public:
  // `rate` is in bytes per second, at least 1.
  RateBucket(uint64_t rate, uint64_t now_ns);
  RateBucket(const RateBucket&) = delete;
  RateBucket& operator=(const RateBucket&) = delete;

  // This bucket has one of `owners` equal parts of the rate and of the burst. Tickets keep their
  // order, and are due according to the new part.
  void SetOwners(uint64_t owners, uint64_t now_ns);

  struct Taken {
    uint64_t bytes = 0;
    // 0 = the bytes may be sent now; otherwise when WaitNs() of the ticket is 0.
    uint64_t ticket = 0;
  };
  // Takes at least one byte and at most `want`, which is above 0.
  Taken Take(uint64_t want, uint64_t now_ns);
  // Returns the time until the ticket is due at the present rate; 0 = it is due.
  uint64_t WaitNs(uint64_t ticket, uint64_t now_ns);
  // Gives bytes back that were taken and will not be sent. A ticket for them is void.
  void Return(uint64_t bytes, uint64_t now_ns);

 private:
  void Refill(uint64_t now_ns);
  void LimitBurst();

  std::mutex mutex_;
  const uint64_t whole_rate_;
  uint64_t rate_ = 0;         // Bytes per second of this part.
  uint64_t burst_bytes_ = 0;  // The most that is left while nobody takes.
  uint64_t turn_bytes_ = 0;   // The most that a ticket is for.
  // Bytes since the bucket was made. Those that were taken, with tickets, are ahead of those that
  // were granted while somebody waits.
  uint64_t taken_ = 0;
  uint64_t granted_ = 0;
  uint64_t refilled_ns_ = 0;  // The time up to which `granted_` is counted.
  uint64_t rest_ = 0;         // Billionths of a byte beside `granted_`.
};

}  // namespace httpsys
