#include "engine/command_queue.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace httpsys::engine {

void CommandQueue::Add(std::function<void()> run, Kind kind) {
  const std::lock_guard lock(mutex_);
  commands_.push_back({std::move(run), kind});
  if (kind == Kind::kConfig) has_configs_.store(true, std::memory_order_release);
  if (kind == Kind::kConfig || kind == Kind::kUnlisten) {
    has_orders_.store(true, std::memory_order_release);
  }
}

void CommandQueue::AddFirst(std::function<void()> run) {
  const std::lock_guard lock(mutex_);
  commands_.insert(commands_.begin(), {std::move(run), Kind::kConfig});
  has_configs_.store(true, std::memory_order_release);
  has_orders_.store(true, std::memory_order_release);
}

std::vector<CommandQueue::Command> CommandQueue::TakeAll() {
  std::vector<Command> all;
  const std::lock_guard lock(mutex_);
  all.swap(commands_);
  has_configs_.store(false, std::memory_order_relaxed);
  has_orders_.store(false, std::memory_order_relaxed);
  return all;
}

std::vector<CommandQueue::Command> CommandQueue::TakeOrders() {
  const std::lock_guard lock(mutex_);
  has_orders_.store(false, std::memory_order_relaxed);
  return TakeUntil([](const Command& command) { return command.kind == Kind::kOther; });
}

std::vector<CommandQueue::Command> CommandQueue::TakeConfigs() {
  const std::lock_guard lock(mutex_);
  has_configs_.store(false, std::memory_order_relaxed);
  return TakeUntil([](const Command& command) {
    return command.kind != Kind::kConfig && command.kind != Kind::kUnordered;
  });
}

// Takes the commands before the first one for which `is_last` is true; leaves kUnordered ones.
template <typename Condition>
std::vector<CommandQueue::Command> CommandQueue::TakeUntil(Condition is_last) {
  const auto last = std::find_if(commands_.begin(), commands_.end(), is_last);
  const auto first_taken = std::stable_partition(
      commands_.begin(), last,
      [](const Command& command) { return command.kind == Kind::kUnordered; });
  std::vector<Command> taken(std::make_move_iterator(first_taken), std::make_move_iterator(last));
  commands_.erase(first_taken, last);
  return taken;
}

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
