#pragma once
// What JavaScript is told of a connection: that there is one, and that it has ended.

#include <cstddef>
#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/connection/input_handler.h"

namespace httpsys::engine {

// Writes kOpen and kClose to the attachment of a connection's server, and gives the connection its
// slot there. Thread: the lane.
class Announcer {
 public:
  Announcer() = default;
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }

  // Gives the connection a slot and tells JavaScript of it, with the flags of kOpen. Does nothing
  // if it is announced already.
  void Announce(Connection* connection, uint32_t flags) {
    if (!connection->slot.is_announced()) Tell(connection, flags);
  }
  // The same for a connection that is announced already: JavaScript sees a new connection and the
  // end of the old one.
  void AnnounceAnew(Connection* connection, uint32_t flags);
  // Gives the connection to a server and announces it. If it had another server, JavaScript sees a
  // new connection and the end of the old one.
  void Assign(Connection* connection, LaneServer* server);
  // Counts bytes that JavaScript does not see, until TellUnseen().
  static void CountUnseen(Connection* connection, size_t read, size_t written) {
    connection->unseen_read.bytes_ += static_cast<uint32_t>(read);
    connection->unseen_written.bytes_ += written;
  }
  // Takes back the last bytes that were read: JavaScript sees them, or they are read again.
  static void UncountUnseen(Connection* connection, size_t read) {
    connection->unseen_read.bytes_ -= static_cast<uint32_t>(read);
  }
  // Tells JavaScript how many bytes it has not seen, before it hears of the connection. Does
  // nothing if there are none. The connection must be announced.
  static void TellUnseen(Connection* connection);
  // Tells JavaScript that the connection has ended, and why: `error` is a positive errno or 0.
  // `is_told_late`: it may hear of that late. Does nothing if the connection is not announced.
  void TellClosed(Connection* connection, int error, bool is_told_late);

 private:
  void Tell(Connection* connection, uint32_t flags);

  InputHandler* handler_ = nullptr;
};

}  // namespace httpsys::engine
