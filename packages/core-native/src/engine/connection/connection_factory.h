#pragma once
// Makes the connections and streams of a lane, with their TLS, and frees them with their sockets.

#include <memory>

#include "engine/connection/connection.h"
#include "engine/connection/connection_list.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/socket_watch.h"
#include "tls/wire.h"

namespace httpsys::engine {

// Thread: the lane.
class ConnectionFactory {
 public:
  ConnectionFactory(ConnectionList* connections, SocketWatch* watch, ConnectionTimers* timers)
      : connections_(connections), watch_(watch), timers_(timers) {}
  ConnectionFactory(const ConnectionFactory&) = delete;
  ConnectionFactory& operator=(const ConnectionFactory&) = delete;

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
