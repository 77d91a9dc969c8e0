#pragma once
// Measures whether a client is too slow in taking its response. Acknowledged bytes count, because a
// socket buffer takes megabytes of which the client has read nothing.

#include <algorithm>
#include <cstdint>

namespace httpsys::engine {

struct Acknowledged {
  uint64_t bytes = 0;          // Bytes that the client has acknowledged since the connection began.
  uint32_t segment_bytes = 0;  // The largest TCP segment that is sent.
};

// Reads the TCP counters of a descriptor. Returns false if it is no TCP connection or the system
// does not provide them.
bool ReadAcknowledged(int fd, Acknowledged* to);

// Measures one connection while its socket does not take all output. A member of the OutputQueue,
// so time without unsent output does not count. Thread: the lane.
class SendRateWatch {
 public:
  // How many times IsTooSlow() is called in one averaging time. The acknowledged bytes are read
  // only if the socket has taken too little since the last call.
  static constexpr uint64_t kLooks = 6;

  // Called every `average_ms` / kLooks. `taken` is the number of bytes the socket has taken since
  // the queue began; `ask` fills an Acknowledged and returns false if that is impossible. Returns
  // true if the client has acknowledged less than `rate` bytes per second for at least
  // `average_ms`.
  template <typename Ask>
  bool IsTooSlow(uint64_t now_ms, uint64_t taken, uint64_t rate, uint64_t average_ms, Ask ask) {
    const uint64_t step = taken - taken_;
    taken_ = taken;
    // During a measurement one large step does not end it: no further bytes may follow.
    const bool is_enough = step * 1000 >= rate * (average_ms / kLooks);
    if (is_enough && since_ms_ == 0) return false;
    if (since_ms_ != 0 && now_ms - since_ms_ < average_ms) return false;
    Acknowledged now;
    if (!ask(&now)) return false;
    const uint64_t elapsed_ms = since_ms_ == 0 ? 0 : now_ms - since_ms_;
    if (elapsed_ms == 0 || (now.bytes - acknowledged_) * 1000 >= rate * elapsed_ms) {
      since_ms_ = is_enough ? 0 : now_ms;
      acknowledged_ = now.bytes;
      return false;
    }
    // A slow receiver opens its window by whole segments, and segments of the loopback interface
    // are long. So allow one segment's time more, at most twice the averaging time in sum.
    const uint64_t segment_ms = now.segment_bytes * uint64_t{1000} / rate;
    return elapsed_ms >= average_ms + std::min(segment_ms, average_ms);
  }

  // Restarts the averaging time, because the client could not have taken more so far.
  void Restart() { since_ms_ = 0; }

 private:
  // When the averaging time began; 0 = no measurement, because the socket takes enough.
  uint64_t since_ms_ = 0;
  // Acknowledged::bytes at since_ms_.
  uint64_t acknowledged_ = 0;
  // `taken` at the last call of IsTooSlow().
  uint64_t taken_ = 0;
};

}  // namespace httpsys::engine
