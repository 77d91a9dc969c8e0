#pragma once
// The orderly end of a connection: the client can read the last reply although it still sends.

#include "engine/connection/connection.h"
#include "engine/connection/connection_factory.h"
#include "engine/connection/connection_timers.h"
#include "engine/connection/socket_watch.h"

namespace httpsys::engine {

// Closing a socket with unread input resets the connection, and the client may lose bytes that it
// has not read. So the sending direction is shut down, and input is discarded until the client has
// ended, too, or limits::kLingerMs are over. Thread: the lane.
class Lingering {
 public:
  Lingering(SocketWatch* watch, ConnectionTimers* timers, ConnectionFactory* factory)
      : watch_(watch), timers_(timers), factory_(factory) {}
  Lingering(const Lingering&) = delete;
  Lingering& operator=(const Lingering&) = delete;

  // Makes a connection linger. It must no longer be open, and its sending direction must be shut
  // down.
  void Begin(Connection* connection);
  // Called when there may be input to discard.
  void OnReadable(Connection* connection);
  // Called when the time is over for which Begin() left the client alone.
  void OnDue(Connection* connection) { Watch(connection); }

 private:
  void Watch(Connection* connection);

  SocketWatch* watch_;
  ConnectionTimers* timers_;
  ConnectionFactory* factory_;
};

}  // namespace httpsys::engine
