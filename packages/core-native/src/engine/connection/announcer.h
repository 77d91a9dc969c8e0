#pragma once
// Reports to JavaScript the begin and the end of connections.

#include <cstddef>
#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/connection/protocol.h"

namespace httpsys::engine {

// Writes the records by which JavaScript learns that a connection begins or ends, and assigns the
// connection its slot. Thread: the lane.
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
  // Counts bytes that JavaScript does not see, until TellUnseen() reports the sums.
  static void CountUnseen(Connection* connection, size_t read, size_t written) {
    connection->unseen_read.bytes_ += static_cast<uint32_t>(read);
    connection->unseen_written.bytes_ += written;
  }
  // Subtracts `read` from the count of bytes read: JavaScript sees the last bytes after all, or the
  // lane reads them again.
  static void UncountUnseen(Connection* connection, size_t read) {
    connection->unseen_read.bytes_ -= static_cast<uint32_t>(read);
  }
  // Reports to JavaScript, and resets, the sums of CountUnseen(); does nothing if they are 0. Must
  // be called before the next record about the connection is written. The connection must be
  // announced.
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
