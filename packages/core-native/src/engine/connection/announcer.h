#pragma once
// Reports to JavaScript the begin and the end of connections.

#include <cstddef>
#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"

namespace httpsys::engine {

// Writes these records to the attachment of a connection's server, and assigns the connection its
// slot there. Thread: the lane.
class Announcer {
 public:
  Announcer& operator=(Announcer&&) = delete;

  void set_input_handler(InputHandler* handler) { handler_ = handler; }

  // Assigns a slot to the connection and writes its kOpen record with `flags`. Does nothing if the
  // connection is announced already.
  void Announce(Connection* connection, uint32_t flags) {
    if (!connection->slot.is_announced()) Tell(connection, flags);
  }
  // Announces again a connection that is announced already: JavaScript sees a new connection and
  // the end of the old one.
  void AnnounceAnew(Connection* connection, uint32_t flags);
  // Gives the connection to a server and announces it. If it had another server, JavaScript sees a
  // new connection and the end of the old one.
  void Assign(Connection* connection, LaneServer* server);
  // Counts bytes that pass without JavaScript, which TellUnseen() reports.
  static void CountUnseen(Connection* connection, size_t read, size_t written) {
    connection->unseen_read.bytes_ += static_cast<uint32_t>(read);
    connection->unseen_written.bytes_ += written;
  }
  // Takes the last `read` bytes out of the count, because JavaScript sees them or they are read
  // again.
  static void UncountUnseen(Connection* connection, size_t read) {
    connection->unseen_read.bytes_ -= static_cast<uint32_t>(read);
  }
  // Reports the bytes of CountUnseen() to JavaScript. Must be called before the next record about
  // the connection. Does nothing if there are none. The connection must be announced.
  static void TellUnseen(Connection* connection);
  // Reports to JavaScript the end of the connection and its cause: `error` is a positive errno or
  // 0. `is_told_late`: the record need not wake JavaScript. Does nothing if the connection is not
  // announced.
  void TellClosed(Connection* connection, int error, bool is_told_late);

 private:
  void Tell(Connection* connection, uint32_t flags);

  InputHandler* handler_ = nullptr;
};

}  // namespace httpsys::engine
