#include "engine/nap.h"

#include <chrono>

#include "base/limits.h"

namespace httpsys::engine {

bool Nap::Take() { return attachments_->MayGatherReplies() && !backoff_.Skip() && Wait(); }

bool Nap::Wait() {
  std::unique_lock lock(mutex_);
  // Check again: a batch that ended before is_napping_ was set has woken the loop, not the nap.
  if (!attachments_->MayGatherReplies()) return false;
  is_napping_ = true;
  const bool is_called = over_.wait_for(lock, std::chrono::microseconds(limits::kNapUs),
                                        [this] { return !is_napping_; });
  is_napping_ = false;
  backoff_.OnWaited(!is_called && !attachments_->IsDraining());
  return is_called;
}

bool Nap::End() {
  {
    const std::lock_guard lock(mutex_);
    if (!is_napping_) return false;
    is_napping_ = false;
  }
  over_.notify_one();
  return true;
}

}  // namespace httpsys::engine
