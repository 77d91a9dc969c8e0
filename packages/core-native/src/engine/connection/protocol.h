#pragma once
// The interfaces by which connections call the lane and its protocols.

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/input_phase.h"
#include "records/replies.h"

namespace httpsys::engine {

// A protocol of the lane. The phase of a connection's input says which protocol reads it. Thread:
// the lane.
class Protocol {
 public:
  enum class Advance : uint8_t { kGoOn, kWait };

  // Returns the memory into which the next bytes are received. `shared` is the lane's buffer: bytes
  // received into it are passed to OnReadable(), bytes received into other memory to OnReceived().
  // Returns an empty span if the protocol has paused the connection, so that nothing is read.
  virtual std::span<char> Room(Connection* connection, std::span<char> shared) {
    (void)connection;
    return shared;
  }
  // Fills `rooms` with further memory for the same read if Room() returned memory of its own.
  // Returns how many pieces were filled.
  virtual size_t MoreRoom(Connection* connection, std::span<iovec> rooms) {
    (void)connection;
    (void)rooms;
    return 0;
  }
  virtual void OnReceived(Connection* connection, size_t bytes) {
    (void)connection;
    (void)bytes;
  }
  // Handles one step of the input, which is not empty, and sets *used to the number of bytes
  // handled. The rest is passed again: at once after kGoOn; after kWait when more bytes arrive or
  // the connection is resumed.
  virtual Advance OnReadable(Connection* connection, std::string_view input, size_t* used) = 0;
  // Called when all bytes that were kept back have been handled.
  virtual void OnKeptRead(Connection* connection) { (void)connection; }
  // Called when the client has ended its direction.
  virtual void OnEof(Connection* connection) = 0;
  // Called when the connection's timer has expired.
  virtual void OnTimeout(Connection* connection) = 0;
  // Handles a reply record. Returns false if another protocol must handle this type of reply.
  virtual bool OnReply(Connection* connection, const ReplyRecord& reply) = 0;

 protected:
  ~Protocol() = default;
};

// The protocol of each phase. Filled once, before the first connection.
class Protocols {
 public:
  void Set(InputPhase phase, Protocol* protocol) {
    by_phase_[static_cast<size_t>(phase)] = protocol;
  }
  // Returns the protocol of a phase; nullptr for kHandshake, whose bytes TLS reads, and for
  // kStream, whose bytes come in frames of HTTP/2.
  Protocol* Of(InputPhase phase) const { return by_phase_[static_cast<size_t>(phase)]; }

 private:
  std::array<Protocol*, kInputPhases> by_phase_{};
};

// Events of connections that the transport passes to the lane. Thread: the lane.
class InputHandler {
 public:
  // Called when there may be bytes to read.
  virtual void OnReadable(Connection* connection) = 0;
  // Called when the client ended its direction while the connection is not read, as in
  // WatchHandler::OnDisconnect().
  virtual void OnDisconnect(Connection* connection) = 0;
  // Called when the connection's timer has expired.
  virtual void OnTimeout(Connection* connection) = 0;
  // Called when the client reads more slowly than the server's minSendRate: must end the
  // connection.
  virtual void OnTooSlow(Connection* connection) = 0;
  // Called when all output was given to the socket, before the sending direction is shut down.
  virtual void OnOutputEnding(Connection* connection) = 0;
  // Called before JavaScript learns of the connection, for the first time or for another server.
  virtual void OnAnnounced(Connection* connection) = 0;
  // Called when the connection is no longer open.
  virtual void OnDetached(Connection* connection) = 0;

 protected:
  ~InputHandler() = default;
};

// Events that Endings, Transport and OutputPass pass to HTTP/2, for connections that carry streams
// and for streams. Thread: the lane.
class StreamHandler {
 public:
  // Called when a stream, or a connection that carries streams, has something to send in this pass.
  virtual void OnTouched(Connection* connection) = 0;
  // Writes frames for all connections that OnTouched() has named.
  virtual void FlushSessions() = 0;
  // Called when the socket has taken all output of a connection that carries streams.
  virtual void OnOutputDone(Connection* connection) = 0;
  // Called when the reasons to pause a stream's input have changed.
  virtual void OnPausesChanged(Connection* stream) = 0;
  // Called before the connection or stream closes, and before JavaScript learns of that.
  virtual void OnDetach(Connection* connection) = 0;
  // Called when the timer of a connection that carries streams, or of a stream, has expired.
  virtual void OnTimer(Connection* connection) = 0;
  // Called when output of the stream was queued, because its window or the socket had no room.
  virtual void OnBehind(Connection* stream) = 0;
  // Called when the stream's output is no longer held (Connection::is_held()).
  virtual void OnReleased(Connection* stream) = 0;

 protected:
  ~StreamHandler() = default;
};

}  // namespace httpsys::engine
