#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "backend/backend.h"

namespace httpsys::engine {

// Lets one thread wait until all lanes have handled the replies published so far. Thread: any.
class DrainBarrier {
 public:
  DrainBarrier(size_t lanes, DrainGoal goal) : goal_(goal), lanes_left_(lanes) {}
  DrainGoal goal() const { return goal_; }
  // Must be called once by each lane.
  void Arrive();
  // Blocks. Returns true if all lanes arrived in time.
  bool Wait(uint64_t timeout_ms);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const DrainGoal goal_;
  size_t lanes_left_;
};

}  // namespace httpsys::engine
