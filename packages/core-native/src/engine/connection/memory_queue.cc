#include "engine/connection/memory_queue.h"

#include <algorithm>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

void MemoryQueue::Add(Connection* connection) {
  if (connection->input.waits_for_segment()) return;
  Input::SetWaitsForSegment(connection, true);
  waiting_.push_back({connection, 0, {}});
}

void MemoryQueue::Park(Connection* connection, const Parked& parked) {
  if (connection->input.waits_for_segment()) return;
  Input::SetWaitsForSegment(connection, true);
  parked.counter->fetch_add(1, std::memory_order_relaxed);
  if (parked.has_others) ++movable_;
  const Resumed* resumed = ResumedOf(connection);
  Waiting waiting{connection, resumed == nullptr ? parked.now_ms : resumed->since_ms, parked};
  next_deadline_ms_ = std::min(next_deadline_ms_, waiting.deadline_ms());
  if (resumed == nullptr) {
    waiting_.push_back(waiting);
    return;
  }
  // Requests are resumed from the front, so the place is near.
  const auto is_later = [&](const Waiting& each) { return each.since_ms >= waiting.since_ms; };
  waiting_.insert(std::find_if(waiting_.begin(), waiting_.end(), is_later), waiting);
}

Connection* MemoryQueue::NextOverdue(uint64_t now_ms) {
  if (now_ms < next_deadline_ms_) return nullptr;
  next_deadline_ms_ = UINT64_MAX;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].deadline_ms() <= now_ms) {
      // There may be others.
      next_deadline_ms_ = now_ms;
      return Take(i, RouteStatus::kQueueTimeout);
    }
    next_deadline_ms_ = std::min(next_deadline_ms_, waiting_[i].deadline_ms());
  }
  return nullptr;
}

Connection* MemoryQueue::Take(size_t at, RouteStatus refusal) {
  const Waiting& waiting = waiting_[at];
  Connection* connection = waiting.connection;
  resumed_ = {};
  if (waiting.parked.counter != nullptr) resumed_ = {connection, waiting.since_ms, refusal};
  Leave(at);
  return connection;
}

void MemoryQueue::Leave(size_t at) {
  const Waiting& waiting = waiting_[at];
  Input::SetWaitsForSegment(waiting.connection, false);
  if (waiting.parked.counter != nullptr)
    waiting.parked.counter->fetch_sub(1, std::memory_order_relaxed);
  if (waiting.parked.has_others) --movable_;
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
}

void MemoryQueue::Remove(Connection* connection) {
  if (!connection->input.waits_for_segment()) return;
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [=](const Waiting& each) {
    return each.connection == connection;
  });
  Leave(static_cast<size_t>(found - waiting_.begin()));
}

}  // namespace httpsys::engine
