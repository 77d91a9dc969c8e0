#include "engine/connection/memory_queue.h"

#include <algorithm>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

void MemoryQueue::Add(Connection* connection) {
  if (connection->input.waits_for_segment()) return;
  Insert(waiting_.end(), {connection, 0, {}});
}

void MemoryQueue::Insert(Place before, const Waiting& waiting) {
  Input::SetWaitsForSegment(waiting.connection, true);
  places_[waiting.connection] = waiting_.insert(before, waiting);
}

void MemoryQueue::Park(Connection* connection, const Parked& parked) {
  if (connection->input.waits_for_segment()) return;
  parked.counter->fetch_add(1, std::memory_order_relaxed);
  if (parked.has_others) ++movable_;
  const Resumed* resumed = ResumedOf(connection);
  Waiting waiting{connection, resumed == nullptr ? parked.now_ms : resumed->since_ms, parked};
  next_deadline_ms_ = std::min(next_deadline_ms_, waiting.deadline_ms());
  if (resumed == nullptr) return Insert(waiting_.end(), waiting);
  // The search is short: requests are resumed from the front, so the old place is near it.
  const auto is_later = [&](const Waiting& each) { return each.since_ms >= waiting.since_ms; };
  Insert(std::find_if(waiting_.begin(), waiting_.end(), is_later), waiting);
}

Connection* MemoryQueue::NextOverdue(uint64_t now_ms) {
  if (now_ms < next_deadline_ms_) return nullptr;
  next_deadline_ms_ = UINT64_MAX;
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (at->deadline_ms() <= now_ms) {
      // Other requests may be overdue, too.
      next_deadline_ms_ = now_ms;
      return Take(at, RouteStatus::kQueueTimeout);
    }
    next_deadline_ms_ = std::min(next_deadline_ms_, at->deadline_ms());
  }
  return nullptr;
}

Connection* MemoryQueue::Take(Place at, RouteStatus refusal) {
  Connection* connection = at->connection;
  resumed_ = {};
  if (at->parked.counter != nullptr) resumed_ = {connection, at->since_ms, refusal};
  Leave(at);
  return connection;
}

void MemoryQueue::Leave(Place at) {
  Input::SetWaitsForSegment(at->connection, false);
  if (at->parked.counter != nullptr) at->parked.counter->fetch_sub(1, std::memory_order_relaxed);
  if (at->parked.has_others) --movable_;
  places_.erase(at->connection);
  waiting_.erase(at);
}

void MemoryQueue::Remove(Connection* connection) {
  if (!connection->input.waits_for_segment()) return;
  Leave(places_.find(connection)->second);
}

}  // namespace httpsys::engine
