#pragma once

#include <cstddef>
#include <deque>

namespace httpsys::engine {

struct Connection;

// The connections and streams that are not read because JavaScript's request segments were full
// (kPauseMemory), in the order in which they began to wait. RecordPublisher reads the first ones
// when a segment is free again, so that each has its turn. Thread: the lane.
class MemoryQueue {
 public:
  MemoryQueue() = default;
  MemoryQueue(const MemoryQueue&) = delete;
  MemoryQueue& operator=(const MemoryQueue&) = delete;

  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  // Adds a connection behind the others. A connection that waits already keeps its place.
  void Add(Connection* connection);
  // Takes the connection out that has waited longest; nullptr = none waits.
  Connection* Next();
  // Takes a connection out that ends or gets another server. It need not be here.
  void Remove(Connection* connection);

 private:
  std::deque<Connection*> waiting_;
};

}  // namespace httpsys::engine
