#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"

namespace httpsys::engine {

struct Connection;

// The memory into which a lane receives the bodies for one JavaScript environment, and the
// connections that wait for it in turn. JavaScript lends the next block when it has the record of
// one, whether the application consumes the body or not: the wait is for its thread, not for
// another client. Thread: the lane.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(ReceiveBlocks* blocks) : blocks_(blocks) {}
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;

  // Loans that are taken and not used yet; the first is used first.
  std::vector<ReceiveBlocks::Loan>& loans() { return loans_; }
  // Takes loans until there are `count`. Returns false if the connection has to wait for its turn,
  // until Next() returns it.
  bool TakeUpTo(size_t count, Connection* connection);
  // True if Next() would return a connection.
  bool is_due() const {
    const size_t wanted = (turns_ + 1) * limits::kBlocksPerRead;
    return !waiting_.empty() && loans_.size() + blocks_->available() >= wanted;
  }
  // Takes the connection whose turn it is out of the list; nullptr = there is none, or those who
  // have got their turn before may need the blocks.
  Connection* Next();
  // Called when the connections that have got their turn have read what there was to be read.
  void EndTurns() { turns_ = 0; }
  void OnDetached(Connection* connection);

 private:
  ReceiveBlocks* blocks_;
  std::vector<ReceiveBlocks::Loan> loans_;
  std::deque<Connection*> waiting_;
  size_t turns_ = 0;  // The turns that Next() has given since EndTurns().
};

}  // namespace httpsys::engine
