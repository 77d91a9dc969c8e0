#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"

namespace httpsys::engine {

struct Connection;

// The memory that one JavaScript environment lends to a lane for request bodies, and the
// connections that wait for it in turn. JavaScript lends a new block for each one that it gets
// back, even if the application does not consume the body. So a connection waits for JavaScript's
// thread, never for another client. Thread: the lane.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(ReceiveBlocks* blocks) : blocks_(blocks) {}
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;

  // Loans that were taken from the blocks and are not used yet, in the order of use.
  std::vector<ReceiveBlocks::Loan>& loans() { return loans_; }
  // Takes loans until loans() has `count`, and returns true. Returns false if the connection must
  // wait until Next() returns it.
  bool TakeUpTo(size_t count, Connection* connection);
  // True if Next() would return a connection.
  bool is_due() const {
    const size_t wanted = (turns_ + 1) * limits::kBlocksPerRead;
    return !waiting_.empty() && loans_.size() + blocks_->available() >= wanted;
  }
  // Takes the next connection out of the list to be read; nullptr = none waits, or the connections
  // that got their turn since EndTurns() may need all blocks.
  Connection* Next();
  // Must be called after the connections that Next() returned have been read.
  void EndTurns() { turns_ = 0; }
  void OnDetached(Connection* connection);

 private:
  ReceiveBlocks* blocks_;
  std::vector<ReceiveBlocks::Loan> loans_;
  std::deque<Connection*> waiting_;
  size_t turns_ = 0;  // Number of connections that Next() has returned since EndTurns().
};

}  // namespace httpsys::engine
