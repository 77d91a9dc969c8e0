#include "engine/drain_barrier.h"

#include <chrono>

namespace httpsys::engine {

void DrainBarrier::Arrive() {
  const std::lock_guard lock(mutex_);
  if (--lanes_left_ == 0) changed_.notify_all();
}

bool DrainBarrier::Wait(uint64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [this] { return lanes_left_ == 0; });
}

}  // namespace httpsys::engine
