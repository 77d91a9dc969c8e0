#include "engine/connection/receive_queue.h"

#include <algorithm>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

bool ReceiveQueue::TakeUpTo(size_t count, Connection* connection) {
  if (blocks_->TakeUpTo(count, &loans_)) return true;
  if (!connection->input.waits_for_blocks()) {
    Input::SetWaitsForBlocks(connection, true);
    waiting_.push_back(connection);
  }
  return false;
}

Connection* ReceiveQueue::Next(size_t count) {
  if (waiting_.empty()) return nullptr;
  const size_t wanted = (count + 1) * limits::kBlocksPerRead;
  if (loans_.size() + blocks_->available() < wanted) return nullptr;
  Connection* connection = waiting_.front();
  waiting_.pop_front();
  Input::SetWaitsForBlocks(connection, false);
  return connection;
}

void ReceiveQueue::OnDetached(Connection* connection) {
  if (!connection->input.waits_for_blocks()) return;
  Input::SetWaitsForBlocks(connection, false);
  std::erase(waiting_, connection);
}

}  // namespace httpsys::engine
