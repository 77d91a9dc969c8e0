#pragma once

#include <cstdint>

namespace httpsys::engine {

// What the members of a shared port have done with one connection or stream. Only SharingMarks
// writes it; everybody reads it.
class SharingState {
 public:
  SharingState() = default;
  // The state of a stream: `hops` is the number of moves of its connection.
  explicit SharingState(uint8_t hops) : hops_(hops) {}

  // How many times the connection has moved to another member, or a relayed request has come back,
  // since the last answer.
  uint8_t hops() const { return hops_; }
  // How many hand-overs of the connection were declined or have failed since the last answer.
  uint8_t returns() const { return returns_; }
  // True if the ClientHello was routed by its server name.
  bool is_hello_routed() const { return is_hello_routed_; }
  // True if the port counts the connection among its open ones.
  bool is_counted() const { return is_counted_; }
  // True if WaitingRequests holds the connection: its request has no owner yet.
  bool is_waiting() const { return is_waiting_; }
  // True if another member lent the connection while it was blocked. OwnerChoice knows which
  // member.
  bool is_lent() const { return is_lent_; }
  // True if the kOpen record had kFlagShared.
  bool is_shared() const { return is_shared_; }
  // How many times a request was claimed back from blocked JavaScript here since the last answer.
  // The same JavaScript gets it again if no other owner can be reached.
  uint8_t reclaims() const { return reclaims_; }

 private:
  friend class SharingMarks;

  uint8_t hops_ = 0;
  uint8_t returns_ = 0;
  bool is_hello_routed_ : 1 = false;
  bool is_counted_ : 1 = false;
  bool is_waiting_ : 1 = false;
  bool is_lent_ : 1 = false;
  bool is_shared_ : 1 = false;
  uint8_t reclaims_ : 3 = 0;
};

}  // namespace httpsys::engine
