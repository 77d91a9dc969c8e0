#pragma once

#include "win/http_api.h"

namespace httpsys::win {

// What a connection is behind a response with 101: bytes in both directions that HTTP.SYS does not
// look at. They take the calls that bodies take. Thread: the lane.
class OpaqueChannel {
 public:
  // Of the call that sends the 101, which has no body.
  static constexpr ULONG kHeadFlags =
      HTTP_SEND_RESPONSE_FLAG_OPAQUE | HTTP_SEND_RESPONSE_FLAG_MORE_DATA;

  // JavaScript has taken the upgrade. Held: it will say when it wants the peer's bytes.
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

  // Whether bytes of the peer are to be asked for.
  bool WantsBytes() const { return is_open_ && !is_held_ && !has_peer_ended_; }

 private:
  bool is_accepted_ = false;
  bool is_held_ = false;
  bool is_open_ = false;
  bool has_peer_ended_ = false;
};

}  // namespace httpsys::win
