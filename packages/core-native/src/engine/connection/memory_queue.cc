#include "engine/connection/memory_queue.h"

#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

void MemoryQueue::Add(Connection* connection) {
  if (connection->input.waits_for_segment()) return;
  Input::SetWaitsForSegment(connection, true);
  waiting_.push_back(connection);
}

Connection* MemoryQueue::Next() {
  if (waiting_.empty()) return nullptr;
  Connection* connection = waiting_.front();
  waiting_.pop_front();
  Input::SetWaitsForSegment(connection, false);
  return connection;
}

void MemoryQueue::Remove(Connection* connection) {
  if (!connection->input.waits_for_segment()) return;
  Input::SetWaitsForSegment(connection, false);
  std::erase(waiting_, connection);
}

}  // namespace httpsys::engine
