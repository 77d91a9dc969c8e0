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
  // True if Next(0) would return a connection.
  bool is_due() const { return !waiting_.empty() && HasBlocksFor(1); }
  // Takes the connection whose turn it is out of the list; nullptr = there is none, or there are
  // not enough blocks for a further one. `count` is the number of those who were taken in a row.
  Connection* Next(size_t count);
  void OnDetached(Connection* connection);

 private:
  bool HasBlocksFor(size_t connections) const {
    return loans_.size() + blocks_->available() >= connections * limits::kBlocksPerRead;
  }

  ReceiveBlocks* blocks_;
  std::vector<ReceiveBlocks::Loan> loans_;
  std::deque<Connection*> waiting_;
};

}  // namespace httpsys::engine
