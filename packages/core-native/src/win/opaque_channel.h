#pragma once

#include "win/http_api.h"

namespace httpsys::win {

// The state of a connection behind a 101 response: bytes in both directions that HTTP.SYS does not
// examine. They use the calls for bodies. Thread: the lane.
class OpaqueChannel {
 public:
  // The flags of the call that sends the 101, which has no body.
  static constexpr ULONG kHeadFlags =
      HTTP_SEND_RESPONSE_FLAG_OPAQUE | HTTP_SEND_RESPONSE_FLAG_MORE_DATA;

  // JavaScript has accepted the upgrade. `is_held`: it will say when it wants the peer's bytes.
  void Accept(bool is_held) {
    is_accepted_ = true;
    is_held_ = is_held;
  }
  bool is_accepted() const { return is_accepted_; }
  // The 101 has left.
  void Open() { is_open_ = true; }
  bool is_open() const { return is_open_; }
  // The peer has ended its direction.
  void OnPeerEnd() { has_peer_ended_ = true; }

  // True if bytes of the peer must be received.
  bool WantsBytes() const { return is_open_ && !is_held_ && !has_peer_ended_; }

 private:
  bool is_accepted_ = false;
  bool is_held_ = false;
  bool is_open_ = false;
  bool has_peer_ended_ = false;
};

}  // namespace httpsys::win
