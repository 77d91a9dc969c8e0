#pragma once

#include <cstdint>

namespace httpsys::engine {

// How long one connection may be idle. Only ConnectionTimers writes it; everybody reads it.
class IdleState {
 public:
  // The idle timeout that the end of the last response has set. 0 = none; records::kIdleNotCounted
  // = JavaScript measures it, and asks the lane.
  uint32_t timeout_ms() const { return timeout_ms_; }
  // When bytes were read or written last, in ms of the loop's clock modulo 2^32.
  uint32_t active_ms() const { return active_ms_; }

 private:
  friend class ConnectionTimers;

  uint32_t timeout_ms_ = 0;
  uint32_t active_ms_ = 0;
};

}  // namespace httpsys::engine
