#pragma once

#include <cstdint>

namespace httpsys::engine {

// How long one connection may be idle. Only ConnectionTimers writes it; everybody reads it.
class IdleState {
 public:
  // Taken from the record that ended the last response. 0 = no timeout.
  uint32_t timeout_ms() const { return timeout_ms_; }

 private:
  friend class ConnectionTimers;

  uint32_t timeout_ms_ = 0;
};

}  // namespace httpsys::engine
