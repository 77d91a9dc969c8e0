#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/accept/acceptor.h"
#include "engine/lane.h"

namespace httpsys::engine {

// Chooses the lane for each new connection. Thread: any.
class LaneBalance {
 public:
  // The lanes must not change any more when Next() is called.
  explicit LaneBalance(const std::vector<std::unique_ptr<Lane>>* lanes) : lanes_(lanes) {}

  // Returns the lane with the fewest connections.
  Lane& Next() {
    // Ties are resolved in turn, so that equal lanes get equal shares.
    const size_t first = next_.fetch_add(1, std::memory_order_relaxed);
    const size_t count = lanes_->size();
    Lane* best = (*lanes_)[first % count].get();
    for (size_t i = 1; i < count; ++i) {
      Lane* lane = (*lanes_)[(first + i) % count].get();
      if (lane->load() < best->load()) best = lane;
    }
    return *best;
  }

  // Returns a function that gives connections accepted for a server to the lanes.
  Acceptor::Sink SinkFor(uint32_t server_id) {
    return [this, server_id](const std::vector<int>& fds) {
      if (lanes_->size() == 1) return lanes_->front()->commands().Adopt(server_id, fds);
      for (const int fd : fds) Next().commands().Adopt(server_id, {fd});
    };
  }

 private:
  const std::vector<std::unique_ptr<Lane>>* lanes_;
  std::atomic<size_t> next_{0};
};

}  // namespace httpsys::engine
