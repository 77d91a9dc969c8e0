#pragma once
// The interface of a protocol towards the connections that speak it.

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

  // The memory into which the next bytes are received. `shared` is the lane's buffer: bytes
  // received there come to OnReadable(), bytes received into other memory to OnReceived(). Returns
  // an empty span if the connection was paused and nothing is to be read.
  virtual std::span<char> Room(Connection* connection, std::span<char> shared) {
    (void)connection;
    return shared;
  }
  // Adds memory behind that of Room(), which was not `shared`, for the same read; `rooms` is empty.
  // Returns how many pieces there are.
  virtual size_t MoreRoom(Connection* connection, std::span<iovec> rooms) {
    (void)connection;
    (void)rooms;
    return 0;
  }
  virtual void OnReceived(Connection* connection, size_t bytes) {
    (void)connection;
    (void)bytes;
  }
  // Handles one step of the input, which is not empty, and sets `used` to the number of bytes that
  // are done with. The rest comes again: at once after kGoOn; after kWait when more bytes come or
  // the connection is resumed.
  virtual Advance OnReadable(Connection* connection, std::string_view input, size_t* used) = 0;
  // All bytes that were kept back have been handled.
  virtual void OnKeptRead(Connection* connection) { (void)connection; }
  // The client has ended its direction.
  virtual void OnEof(Connection* connection) = 0;
  // The connection's timer has expired.
  virtual void OnTimeout(Connection* connection) = 0;
  // Handles a reply record. Returns false if the protocol leaves this type of reply to another one.
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
  // nullptr in kHandshake, whose bytes TLS reads, and in kStream, whose bytes come in frames of
  // HTTP/2.
  Protocol* Of(InputPhase phase) const { return by_phase_[static_cast<size_t>(phase)]; }

 private:
  std::array<Protocol*, kInputPhases> by_phase_{};
};

}  // namespace httpsys::engine
