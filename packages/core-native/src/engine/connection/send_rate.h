#pragma once
// Whether a client takes what it has asked for: by what it has acknowledged, because a socket
// buffer takes megabytes of which the client has read nothing.

#include <algorithm>
#include <cstdint>

namespace httpsys::engine {

struct Acknowledged {
  uint64_t bytes = 0;          // Since the connection began.
  uint32_t segment_bytes = 0;  // The longest that is sent at a time.
};

// Returns false if the descriptor is no TCP connection or the system does not tell.
bool ReadAcknowledged(int fd, Acknowledged* to);

// The average of one connection while its socket does not take all. Lives in its OutputQueue, so
// that time without unsent output does not count. Thread: the lane.
class SendRateWatch {
 public:
  // Looks of one averaging time. A connection of which the socket has taken enough since the last
  // look is not asked about.
  static constexpr uint64_t kLooks = 6;

  // Called every `average_ms` / kLooks. `taken` is what the socket has taken since the queue
  // began; `ask` fills an Acknowledged and returns false if there is none. Returns true when the
  // client has acknowledged less than `rate` bytes a second for at least `average_ms`.
  template <typename Ask>
  bool IsTooSlow(uint64_t now_ms, uint64_t taken, uint64_t rate, uint64_t average_ms, Ask ask) {
    const uint64_t step = taken - taken_;
    taken_ = taken;
    // Within an averaging time one large step does not begin a new one: it may be all there is.
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
    // A receiver that reads little by little opens its window by whole segments. Those of the
    // loopback interface are long: at most as much time again.
    const uint64_t segment_ms = now.segment_bytes * uint64_t{1000} / rate;
    return elapsed_ms >= average_ms + std::min(segment_ms, average_ms);
  }

 private:
  uint64_t since_ms_ = 0;  // 0 = the socket takes enough.
  uint64_t acknowledged_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace httpsys::engine
