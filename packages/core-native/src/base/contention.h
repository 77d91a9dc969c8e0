#pragma once
// What a thread leaves out while other programs have the CPU that it waits for: one more wake among
// theirs would cost more than it brings.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/limits.h"

namespace httpsys {

// Waits for others to work on this CPU: whether they are worth it is learned from the last ones.
class WaitBackoff {
 public:
  // Whether the next one is left out.
  bool Skip() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  // The last one was in vain.
  bool is_active() const { return skips_ != 0; }
  void OnWaited(bool is_in_vain) {
    skips_ = is_in_vain ? std::min(2 * skips_ + 1, limits::kWaitsSkippedMax) : 0;
    left_ = skips_;
  }

 private:
  int skips_ = 0;
  int left_ = 0;
};

// Looks of a process that is not on duty at a port, at the connections that wait there. Whoever is
// on duty may only wait for the CPU, and takes more at a time than all others together.
class Standby {
 public:
  enum class Step : uint8_t {
    kLeave,  // The one on duty takes them.
    kTake,   // It is behind, or has stopped.
    kRest,   // There is no load.
  };

  // `waiting` connections are in a queue with room for `room`.
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
  int quiet_ = 0;      // Looks in a row that found nothing,
  int untouched_ = 0;  // and those that found what the look before has seen, or more.
};

}  // namespace httpsys
