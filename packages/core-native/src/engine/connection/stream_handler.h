#pragma once

#include "engine/connection/connection.h"

namespace httpsys::engine {

// Events that Endings, Transport and OutputPass pass to HTTP/2, for connections that carry streams
// and for streams. Thread: the lane.
class StreamHandler {
 public:
  // A stream, or a connection that carries streams, has something to send in this pass.
  virtual void OnTouched(Connection* connection) = 0;
  // Writes frames for all connections that OnTouched() has named.
  virtual void FlushSessions() = 0;
  // The socket has taken all output of a connection that carries streams.
  virtual void OnOutputDone(Connection* connection) = 0;
  // The reasons to pause a stream's input have changed.
  virtual void OnPausesChanged(Connection* stream) = 0;
  // The connection or stream is about to close. JavaScript does not know it yet.
  virtual void OnDetach(Connection* connection) = 0;
  // The timer of a connection that carries streams, or of a stream, has expired.
  virtual void OnTimer(Connection* connection) = 0;
  // Output of the stream was queued, because its window or the socket had no room.
  virtual void OnBehind(Connection* stream) = 0;
  // The stream's output is no longer held (Connection::is_held()).
  virtual void OnReleased(Connection* stream) = 0;

 protected:
  ~StreamHandler() = default;
};

}  // namespace httpsys::engine
