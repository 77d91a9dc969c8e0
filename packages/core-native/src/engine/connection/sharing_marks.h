#pragma once
// Records what the members of a shared port have done with connections.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

// The one writer of SharingState and of RelayOrigin. Thread: the lane.
class SharingMarks {
 public:
  // Records that the connection has come from another member, after `hops` moves.
  static void OnReceived(Connection* connection, uint8_t hops) { connection->sharing.hops_ = hops; }
  static void SetReturns(Connection* connection, uint8_t returns) {
    connection->sharing.returns_ = returns;
  }
  // Records that another member has given a request back.
  static void OnTakenBack(Connection* connection) { ++connection->sharing.hops_; }
  // Resets the counts of moves, because a request was answered: the limits apply anew to the next
  // one.
  static void ForgetMoves(Connection* connection) {
    connection->sharing.hops_ = connection->sharing.returns_ = connection->sharing.reclaims_ = 0;
  }
  // Must be called at most limits::kReclaimsMax times since the last answer.
  static void OnReclaimed(Connection* connection) {
    const int reclaims = connection->sharing.reclaims_ + 1;
    connection->sharing.reclaims_ = static_cast<uint8_t>(reclaims & limits::kReclaimsMax);
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
  // Records whether the kOpen record had kFlagShared.
  static void SetShared(Connection* connection, bool is_shared) {
    connection->sharing.is_shared_ = is_shared;
  }
  static void SetLent(Connection* connection, bool is_lent) {
    connection->sharing.is_lent_ = is_lent;
  }

  // -- Connections that another member relays.

  static void SetOrigin(Connection* connection, std::unique_ptr<RelayOrigin> origin) {
    connection->uncommon().origin.origin = std::move(origin);
  }
  // Counts bytes of answers that were given to the relay.
  static void CountRelayed(Connection* connection, size_t bytes) {
    if (connection->origin() != nullptr) OriginOf(connection)->sent_bytes += bytes;
  }
  // Records whether the answer that is ending closes the client's connection.
  static void SetAnswerCloses(Connection* connection, bool closes) {
    if (connection->origin() != nullptr) OriginOf(connection)->closes = closes;
  }
  // Records that the relaying member knows of the end of the relay.
  static void SetEndTold(Connection* connection) { OriginOf(connection)->is_end_told = true; }

 private:
  static RelayOrigin* OriginOf(Connection* connection) {
    return connection->uncommon().origin.origin.get();
  }
};

}  // namespace httpsys::engine
