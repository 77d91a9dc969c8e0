#pragma once
// Marks what the members of a shared port have done with connections.

#include <cstdint>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// The one writer of SharingState. Thread: the lane.
class SharingMarks {
 public:
  // The connection has come from another member, having moved this often.
  static void OnReceived(Connection* connection, uint8_t hops) { connection->sharing.hops_ = hops; }
  static void SetReturns(Connection* connection, uint8_t returns) {
    connection->sharing.returns_ = returns;
  }
  // Another member has given a request back.
  static void OnTakenBack(Connection* connection) { ++connection->sharing.hops_; }
  // A request was answered: the limits on moves count anew for the next one.
  static void ForgetMoves(Connection* connection) {
    connection->sharing.hops_ = connection->sharing.returns_ = 0;
  }
  static void SetHelloRouted(Connection* connection) {
    connection->sharing.is_hello_routed_ = true;
  }
  static void SetCounted(Connection* connection, bool is_counted) {
    connection->sharing.is_counted_ = is_counted;
  }
  static void SetWaiting(Connection* connection, bool is_waiting) {
    connection->sharing.is_waiting_ = is_waiting;
  }
  // The kOpen record is written, with kFlagShared if `is_shared`.
  static void SetShared(Connection* connection, bool is_shared) {
    connection->sharing.is_shared_ = is_shared;
  }
  static void SetLent(Connection* connection, bool is_lent) {
    connection->sharing.is_lent_ = is_lent;
  }
};

}  // namespace httpsys::engine
