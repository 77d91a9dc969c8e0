#pragma once
// The connections and streams of a lane, and their counts.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/socket_watch.h"
#include "tls/wire.h"

namespace httpsys::engine {

// Makes the connections and streams of a lane, with their TLS, owns them, and frees them with their
// sockets. A connection that has ended stays valid until FreeEnded(), so a caller may read its
// `life`. Thread: the lane.
class ConnectionList {
 public:
  // `load` counts the open connections, for the thread that distributes new ones.
  ConnectionList(std::atomic<uint32_t>* load, SocketWatch* watch, ConnectionTimers* timers)
      : load_(load), watch_(watch), timers_(timers) {}
  ConnectionList& operator=(ConnectionList&&) = delete;

  // Counts a connection that is about to be opened but did not come from the acceptor, which counts
  // its own.
  void CountLoad() { load_->fetch_add(1, std::memory_order_relaxed); }
  // Makes a connection on a descriptor, which it takes over. `origin` is set for one end of a
  // relay. BeginTls() must follow.
  Connection* Make(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin);
  // Makes a stream of `parent`.
  Connection* MakeStream(Connection* parent, LaneServer* server,
                         std::unique_ptr<Http2Stream> stream);
  // If the connection's server serves TLS on its port, makes a TLS session and begins the
  // handshake. Returns false if out of memory.
  bool BeginTls(Connection* connection);
  // Gives a connection or stream to another server.
  static void SetServer(Connection* connection, LaneServer* server);
  // Removes a connection or stream that is no longer open from its server and from the counts.
  void Leave(Connection* connection);
  // Marks a connection that is no longer open as lingering.
  static void SetLingering(Connection* connection) { connection->list.life_ = Life::kLingering; }
  // Ends a connection or a stream that is not open any more: closes the descriptor, and frees the
  // memory as soon as libuv has closed the watcher. Does nothing if the connection has ended
  // already.
  void End(Connection* connection);
  // Does the same as End(), but leaves the descriptor of the connection to the caller.
  void EndWithoutClosing(Connection* connection);
  // Frees a connection that has ended. Called when libuv has closed its watcher.
  void Free(Connection* connection) { delete connection; }
  // Frees the ended connections that libuv does not hold. They must no longer be in use.
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
  void Add(Connection* connection, LaneServer* server);
  // Takes a connection that has ended out of the list.
  void Remove(Connection* connection);

  std::atomic<uint32_t>* load_;
  SocketWatch* watch_;
  ConnectionTimers* timers_;
  tls::WireBuffer sealed_;  // Shared by all TLS sessions of the lane.
  Connection* first_ = nullptr;
  std::vector<std::unique_ptr<Connection>> ended_;
};

}  // namespace httpsys::engine
