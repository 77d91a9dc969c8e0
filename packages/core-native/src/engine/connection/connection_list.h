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

// Owns the connections and streams of a lane, from Add() until they are freed. A connection that
// has ended stays valid until FreeEnded(), so a caller may read its `life`. Thread: the lane.
class ConnectionList {
 public:
  // `load` counts the open connections, for the thread that distributes new ones.
  explicit ConnectionList(std::atomic<uint32_t>* load) : load_(load) {}
  ConnectionList& operator=(ConnectionList&&) = delete;

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

// Makes the connections and streams of a lane, with their TLS, and frees them with their sockets.
// Thread: the lane.
class ConnectionFactory {
 public:
  ConnectionFactory(ConnectionList* connections, SocketWatch* watch, ConnectionTimers* timers)
      : connections_(connections), watch_(watch), timers_(timers) {}
  ConnectionFactory& operator=(ConnectionFactory&&) = delete;

  // Makes a connection on a descriptor, which it takes over. `origin` is set for one end of a
  // relay. BeginTls() must follow.
  Connection* Make(int fd, LaneServer* server, std::unique_ptr<RelayOrigin> origin);
  // Makes a stream of `parent`.
  Connection* MakeStream(Connection* parent, LaneServer* server,
                         std::unique_ptr<Http2Stream> stream);
  // If the connection's server serves TLS on its port, makes a TLS session and begins the
  // handshake. Returns false if out of memory.
  bool BeginTls(Connection* connection);
  // Ends a connection or a stream that is not open any more: closes the descriptor, and frees the
  // memory as soon as libuv has closed the watcher. Does nothing if the connection has ended
  // already.
  void End(Connection* connection);
  // Does the same as End(), but leaves the descriptor of the connection to the caller.
  void EndWithoutClosing(Connection* connection);

 private:
  ConnectionList* connections_;
  SocketWatch* watch_;
  ConnectionTimers* timers_;
  tls::WireBuffer sealed_;  // Shared by all TLS sessions of the lane.
};

}  // namespace httpsys::engine
