#pragma once
// The connections and streams of a lane, and their counts.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// Owns the connections and streams of a lane, from Add() until they are freed. A connection that
// has ended stays valid until FreeEnded(), so a caller may read its `life`. Thread: the lane.
class ConnectionList {
 public:
  // `load` counts the open connections, for the thread that distributes new ones.
  explicit ConnectionList(std::atomic<uint32_t>* load) : load_(load) {}
  ConnectionList(const ConnectionList&) = delete;
  ConnectionList& operator=(const ConnectionList&) = delete;

  // Counts a connection that is about to be opened but did not come from the acceptor, which counts
  // its own.
  void CountLoad() { load_->fetch_add(1, std::memory_order_relaxed); }
  // Takes over an open connection or stream of a server.
  void Add(Connection* connection, LaneServer* server);
  // Gives a connection or stream to another server.
  static void SetServer(Connection* connection, LaneServer* server);
  // Takes a connection or stream that is no longer open from its server and out of the counts.
  void Leave(Connection* connection);
  // Marks a connection that is no longer open as lingering.
  static void SetLingering(Connection* connection) { connection->list.life_ = Life::kLingering; }
  // Takes a connection that has ended out of the list. Free() or FreeLater() must follow.
  void Remove(Connection* connection);
  void Free(Connection* connection) { delete connection; }
  void FreeLater(Connection* connection) { ended_.emplace_back(connection); }
  // Frees the connections that were passed to FreeLater(). They must no longer be in use.
  void FreeEnded() { ended_.clear(); }

  // Any connection or stream; nullptr = there is none.
  Connection* first() const { return first_; }
  // Calls `function` with every connection and stream. The function may end the connection that it
  // gets.
  template <typename Function>
  void ForEach(Function function) {
    for (Connection *at = first_, *next = nullptr; at != nullptr; at = next) {
      next = at->list.next_;
      function(at);
    }
  }

 private:
  std::atomic<uint32_t>* load_;
  Connection* first_ = nullptr;
  std::vector<std::unique_ptr<Connection>> ended_;
};

}  // namespace httpsys::engine
