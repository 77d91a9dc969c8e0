#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

struct Connection;

// The memory that one JavaScript environment lends to a lane for request bodies, and the
// connections that wait for such memory in turn. JavaScript lends a new block for each block that
// it gets back, even if the application does not consume the body. So a connection waits for
// JavaScript's thread, never for another client. Thread: the lane.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(ReceiveBlocks* blocks) : blocks_(blocks) {}
  ReceiveQueue& operator=(ReceiveQueue&&) = delete;

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

// The connections and streams that are not read because JavaScript is behind (kPauseMemory), from
// the oldest to the newest. There are two kinds:
// - A connection whose next bytes only JavaScript can take waits for a free request segment.
// - A parked request waits until JavaScript has begun enough other requests (Attachment::IsFull()
//   is false). Its head stays with its connection and is parsed again.
// RecordPublisher resumes the connections and streams in their order. Thread: the lane.
class MemoryQueue {
 public:
  // The data of a parked request.
  struct Parked {
    std::atomic<uint64_t>* counter = nullptr;  // The server's count of unbegun requests.
    uint64_t now_ms = 0;
    uint32_t timeout_ms = 0;  // How long JavaScript may take to begin the request; 0 = no limit.
    uint32_t target_id = 0;   // The id of the target in the port's routes.
    bool has_others = false;  // Another member owns the target, too.
  };
  // The parked request that was taken out and is being handled again.
  struct Resumed {
    const Connection* connection = nullptr;
    uint64_t since_ms = 0;
    // The refusal to send if only JavaScript could answer the request; kMatch = do not refuse it.
    RouteStatus refusal = RouteStatus::kMatch;
  };

  MemoryQueue& operator=(MemoryQueue&&) = delete;

  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  // True if the oldest entry is a parked request. The queue must not be empty.
  bool is_next_parked() const { return waiting_.front().parked.counter != nullptr; }
  // Adds a connection that waits for a segment behind the others. A connection that waits already
  // keeps its place.
  void Add(Connection* connection);
  // Adds a parked request behind the others, or at its old place if it is the resumed request.
  void Park(Connection* connection, const Parked& parked);
  // Takes the oldest entry out and returns its connection; nullptr = the queue is empty. A parked
  // request counts as the resumed one until EndResume().
  Connection* Next() { return empty() ? nullptr : Take(waiting_.begin(), RouteStatus::kMatch); }
  // Like Next(), for a parked request whose timeout has passed; nullptr = there is none.
  Connection* NextOverdue(uint64_t now_ms);
  // Like Next(), for the oldest parked request for which `accepts` returns true. `refusal` is the
  // reason to refuse it; kMatch = it is not refused.
  template <typename Accepts>
  Connection* NextParked(RouteStatus refusal, Accepts accepts) {
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      if (at->parked.counter != nullptr && accepts(*at->connection, at->parked))
        return Take(at, refusal);
    }
    return nullptr;
  }
  // True if any parked request has Parked::has_others.
  bool has_movable() const { return movable_ != 0; }
  // Returns the resumed request if it belongs to this connection, otherwise nullptr.
  const Resumed* ResumedOf(const Connection* connection) const {
    return resumed_.connection == connection ? &resumed_ : nullptr;
  }
  void EndResume() { resumed_ = {}; }
  // Must be called when a connection ends or gets another server. Removes its entry, if any.
  void Remove(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    // When the request was first parked; 0 for a connection that waits for a segment.
    uint64_t since_ms = 0;
    Parked parked;  // `counter` nullptr = no parked request: the connection waits for a segment.

    uint64_t deadline_ms() const {
      return parked.timeout_ms == 0 ? UINT64_MAX : since_ms + parked.timeout_ms;
    }
  };

  using Place = std::list<Waiting>::iterator;

  void Insert(Place before, const Waiting& waiting);
  Connection* Take(Place at, RouteStatus refusal);
  void Leave(Place at);

  std::list<Waiting> waiting_;
  // The place of each connection, so that Remove() needs no search: all clients may leave while
  // JavaScript is busy.
  std::unordered_map<const Connection*, Place> places_;
  Resumed resumed_;
  size_t movable_ = 0;                      // Number of parked requests with has_others.
  uint64_t next_deadline_ms_ = UINT64_MAX;  // The earliest deadline or an earlier time.
};

}  // namespace httpsys::engine
