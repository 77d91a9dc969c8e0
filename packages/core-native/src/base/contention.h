#pragma once
// Decides which waits and checks a thread skips while other programs use its CPU: a further wake-up
// would then cost more than it gains.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/limits.h"

namespace httpsys {

// Decides by the last waits whether another wait for other threads on this CPU is worthwhile.
class WaitBackoff {
 public:
  // Returns true if the caller must skip the next wait. Counts the call as one skipped wait.
  bool Skip() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  // True if the last wait was useless.
  bool is_active() const { return skips_ != 0; }
  void OnWaited(bool is_in_vain) {
    skips_ = is_in_vain ? std::min(2 * skips_ + 1, limits::kWaitsSkippedMax) : 0;
    left_ = skips_;
  }

 private:
  int skips_ = 0;
  int left_ = 0;
};

// Decides what a process that is not on duty at a shared port does about waiting connections. The
// process on duty may just be waiting for the CPU, and accepts more at a time than all others.
class Standby {
 public:
  enum class Step : uint8_t {
    kLeave,  // The process on duty will accept them.
    kTake,   // The process on duty is behind or has stopped: accept them.
    kRest,   // There is no load: wait to be woken.
  };

  // Handles one check of an accept queue that has `waiting` connections and room for `room`.
  Step Look(size_t waiting, size_t room) {
    const bool is_less = waiting < std::exchange(before_, waiting);
    quiet_ = waiting == 0 ? quiet_ + 1 : 0;
    untouched_ = waiting == 0 || is_less ? 0 : untouched_ + 1;
    const bool is_behind = waiting != 0 && waiting >= room / 2;
    if (is_behind || untouched_ > limits::kAcceptLooksUntouchedMax) {
      untouched_ = 0;
      return Step::kTake;
    }
    if (quiet_ < limits::kAcceptLooksQuietMax) return Step::kLeave;
    quiet_ = 0;
    return Step::kRest;
  }

 private:
  size_t before_ = 0;
  int quiet_ = 0;  // The number of successive checks that found no connection.
  // The number of successive checks that found no fewer connections than the check before.
  int untouched_ = 0;
};

}  // namespace httpsys
