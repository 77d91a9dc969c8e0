#include "engine/connection/receive_queue.h"

#include <algorithm>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

bool ReceiveQueue::TakeUpTo(size_t count, Connection* connection) {
  // Without a turn, a connection must not take blocks before the connections that wait.
  const bool has_turn = connection->input.TakeReceiveTurn();
  if ((has_turn || waiting_.empty()) && blocks_->TakeUpTo(count, &loans_)) return true;
  connection->input.SetWaitsForBlocks(true);
  if (has_turn) {
    waiting_.push_front(connection);
  } else {
    waiting_.push_back(connection);
  }
  return false;
}

Connection* ReceiveQueue::Next() {
  if (!is_due()) return nullptr;
  ++turns_;
  Connection* connection = waiting_.front();
  waiting_.pop_front();
  connection->input.SetWaitsForBlocks(false);
  connection->input.GiveReceiveTurn();
  return connection;
}

void ReceiveQueue::OnDetached(Connection* connection) {
  if (!connection->input.waits_for_blocks()) return;
  connection->input.SetWaitsForBlocks(false);
  std::erase(waiting_, connection);
}

void MemoryQueue::Add(Connection* connection) {
  if (connection->input.waits_for_segment()) return;
  Insert(waiting_.end(), {connection, 0, {}});
}

void MemoryQueue::Insert(Place before, const Waiting& waiting) {
  waiting.connection->input.SetWaitsForSegment(true);
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
      // Look again at the next call: other requests may be overdue, too.
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
  at->connection->input.SetWaitsForSegment(false);
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
