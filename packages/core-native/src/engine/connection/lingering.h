#pragma once
// The orderly end of a connection: the peer can read the last reply although it still sends.

#include "engine/connection/connection.h"
#include "engine/connection/connection_factory.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/socket_watch.h"

namespace httpsys::engine {

// Closing a socket with unread input resets the connection, and the peer may lose what it has not
// read. So the sending direction is shut down, and input is discarded for a while, until the peer
// has ended, too. Thread: the lane.
class Lingering {
 public:
  Lingering(SocketWatch* watch, ConnectionTimers* timers, ConnectionFactory* factory)
      : watch_(watch), timers_(timers), factory_(factory) {}
  Lingering(const Lingering&) = delete;
  Lingering& operator=(const Lingering&) = delete;

  // Begins with a connection that is not open any more, and whose sending direction is shut down.
  void Begin(Connection* connection);
  // There may be input to discard.
  void OnReadable(Connection* connection);
  // The time is over for which a client was left alone that has announced its end.
  void OnDue(Connection* connection) { Watch(connection); }

 private:
  void Watch(Connection* connection);

  SocketWatch* watch_;
  ConnectionTimers* timers_;
  ConnectionFactory* factory_;
};

}  // namespace httpsys::engine
