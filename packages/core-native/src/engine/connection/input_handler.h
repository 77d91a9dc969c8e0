#pragma once

#include "engine/connection/connection.h"

namespace httpsys::engine {

// Events of connections that the transport passes to the lane. Thread: the lane.
class InputHandler {
 public:
  // There may be bytes to read.
  virtual void OnReadable(Connection* connection) = 0;
  // The client ended its direction while the connection is not read (WatchHandler::OnDisconnect()).
  virtual void OnDisconnect(Connection* connection) = 0;
  // The connection's timer has expired.
  virtual void OnTimeout(Connection* connection) = 0;
  // The client reads more slowly than the server's minSendRate: the connection must be ended.
  virtual void OnTooSlow(Connection* connection) = 0;
  // All output was given to the socket, and the sending direction is about to be shut down.
  virtual void OnOutputEnding(Connection* connection) = 0;
  // JavaScript is about to hear of the connection, for the first time or again for another server.
  virtual void OnAnnounced(Connection* connection) = 0;
  // The connection is no longer open.
  virtual void OnDetached(Connection* connection) = 0;

 protected:
  ~InputHandler() = default;
};

}  // namespace httpsys::engine
