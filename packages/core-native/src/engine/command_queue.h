#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "backend/backend.h"

namespace httpsys::engine {

// The commands that other threads give a lane, in the order in which they came.
class CommandQueue {
 public:
  // kConfig: settings and routes. kUnlisten, kAdopt: commands of these names. kUnordered: commands
  // of other threads than JavaScript's, which need no order relative to JavaScript's commands.
  // kOther: everything else.
  enum class Kind : uint8_t { kConfig, kUnlisten, kAdopt, kUnordered, kOther };

  struct Command {
    std::function<void()> run;
    Kind kind;
  };

  // Adds a command. Thread: any.
  void Add(std::function<void()> run, Kind kind);
  // Adds a kConfig command before all others.
  void AddFirst(std::function<void()> run);

  // -- Thread: the lane.

  std::vector<Command> TakeAll();
  // Takes the commands on which replies may depend: all before the first kOther, without
  // kUnordered.
  std::vector<Command> TakeOrders();
  // Takes the kConfig commands that no command precedes except kConfig and kUnordered.
  std::vector<Command> TakeConfigs();
  bool has_configs() const { return has_configs_.load(std::memory_order_acquire); }
  bool has_orders() const { return has_orders_.load(std::memory_order_acquire); }
  // The flag behind has_orders().
  const std::atomic<bool>* orders() const { return &has_orders_; }

 private:
  template <typename Condition>
  std::vector<Command> TakeUntil(Condition is_last);

  std::mutex mutex_;
  std::vector<Command> commands_;  // Guarded by mutex_.
  // True if a kConfig command waits. Written with mutex_ held.
  std::atomic<bool> has_configs_ = false;
  // True if a kConfig or kUnlisten command waits. Written with mutex_ held.
  std::atomic<bool> has_orders_ = false;
};

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
