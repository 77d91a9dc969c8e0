#include "engine/connection/receive_queue.h"

#include "engine/connection/connection.h"
#include "engine/connection/input.h"

namespace httpsys::engine {

bool ReceiveQueue::TakeUpTo(size_t count, Connection* connection) {
  // Without a turn, a connection must not take blocks before the connections that wait.
  const bool has_turn = Input::TakeReceiveTurn(connection);
  if ((has_turn || waiting_.empty()) && blocks_->TakeUpTo(count, &loans_)) return true;
  Input::SetWaitsForBlocks(connection, true);
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
  Input::SetWaitsForBlocks(connection, false);
  Input::GiveReceiveTurn(connection);
  return connection;
}

void ReceiveQueue::OnDetached(Connection* connection) {
  if (!connection->input.waits_for_blocks()) return;
  Input::SetWaitsForBlocks(connection, false);
  std::erase(waiting_, connection);
}

}  // namespace httpsys::engine
