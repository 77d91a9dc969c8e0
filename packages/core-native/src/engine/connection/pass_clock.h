#pragma once

#include <uv.h>

#include <cstdint>

namespace httpsys::engine {

// The time of the current turn of a lane's loop. The first call of Ns() in a turn reads the clock.
// Thread: the lane.
class PassClock {
 public:
  void BeginPass() { now_ns_ = 0; }
  uint64_t Ns() {
    if (now_ns_ == 0) now_ns_ = uv_hrtime();
    return now_ns_;
  }
  uint64_t Ms() { return Ns() / 1'000'000; }

 private:
  uint64_t now_ns_ = 0;
};

}  // namespace httpsys::engine
