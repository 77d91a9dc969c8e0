#pragma once
// What a protocol does for the connections that speak it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/input_phase.h"
#include "records/replies.h"

namespace httpsys::engine {

// The phase of a connection's input says which protocol reads it. Thread: the lane.
class Protocol {
 public:
  enum class Advance : uint8_t { kGoOn, kWait };

  // Where the next bytes are received. What is received in `shared`, the buffer of the lane, comes
  // to OnReadable(), what is received in other memory to OnReceived(). Empty: nothing is read now,
  // and the connection is paused.
  virtual std::span<char> Room(Connection* connection, std::span<char> shared) {
    (void)connection;
    return shared;
  }
  virtual void OnReceived(Connection* connection, size_t bytes) {
    (void)connection;
    (void)bytes;
  }
  // Handles one step of the input, which is not empty, and sets how much of it is done with. What
  // is left comes again: at once after kGoOn, with more or when the connection is resumed after
  // kWait.
  virtual Advance OnReadable(Connection* connection, std::string_view input, size_t* used) = 0;
  // Everything that was kept back has been handled.
  virtual void OnKeptRead(Connection* connection) { (void)connection; }
  // The client has ended its direction.
  virtual void OnEof(Connection* connection) = 0;
  // The connection's timer has run out.
  virtual void OnTimeout(Connection* connection) = 0;
  // Returns false for a reply that this protocol has nothing of its own for.
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
  // nullptr in kHandshake, whose bytes are those of TLS, and in kStream, whose bytes come in
  // frames.
  Protocol* Of(InputPhase phase) const { return by_phase_[static_cast<size_t>(phase)]; }

 private:
  std::array<Protocol*, kInputPhases> by_phase_{};
};

}  // namespace httpsys::engine
