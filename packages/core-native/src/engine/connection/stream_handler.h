#pragma once

#include "engine/connection/connection.h"

namespace httpsys::engine {

// What sends and receives for the streams of HTTP/2 connections.
class StreamHandler {
 public:
  // A stream, or a connection with streams, has something to send in this pass.
  virtual void OnTouched(Connection* connection) = 0;
  // Sends what it can of all that were touched.
  virtual void FlushSessions() = 0;
  // The socket of a connection with streams has taken its output.
  virtual void OnOutputDone(Connection* connection) = 0;
  // A stream reads again, or no longer.
  virtual void OnPausesChanged(Connection* stream) = 0;
  // Before it is told that it is closed.
  virtual void OnDetach(Connection* connection) = 0;
  virtual void OnTimer(Connection* connection) = 0;
  // What a stream has to send is kept.
  virtual void OnBehind(Connection* stream) = 0;

 protected:
  ~StreamHandler() = default;
};

}  // namespace httpsys::engine
