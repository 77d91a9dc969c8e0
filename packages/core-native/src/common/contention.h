#pragma once
// What a thread leaves out while other programs have the CPU that it waits for: one more wake among
// theirs would cost more than it brings.

#include <algorithm>
#include <cstdint>

#include "common/limits.h"

namespace httpsys {

// Naps of a lane, which are to end when JavaScript has worked.
class NapBackoff {
 public:
  // Whether the next one is left out.
  bool Skip() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  // `is_in_vain`: JavaScript had not even begun.
  void OnNap(bool is_in_vain) {
    skips_ = is_in_vain ? std::min(2 * skips_ + 1, limits::kNapsSkippedMax) : 0;
    left_ = skips_;
  }

 private:
  int skips_ = 0;
  int left_ = 0;
};

// Looks of a process that is not on duty at a port, for connections that wait there. Whoever is on
// duty waits for the CPU, too, and takes more at a time than all others together.
class LookBackoff {
 public:
  // Whether the one that was due then is left out.
  bool Skip(uint64_t due_ms, uint64_t now_ms) {
    const bool is_late = now_ms >= due_ms + limits::kAcceptLateMs;
    skipped_ = is_late && skipped_ < limits::kAcceptLooksSkippedMax ? skipped_ + 1 : 0;
    return skipped_ != 0;
  }

 private:
  int skipped_ = 0;
};

}  // namespace httpsys
