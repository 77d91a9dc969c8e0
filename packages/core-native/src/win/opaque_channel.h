#pragma once

#include "win/http_api.h"

namespace httpsys::win {

// The state of a connection after a 101 response: HTTP.SYS does not examine the bytes in either
// direction, which are sent and received by the calls for bodies. Thread: the lane.
class OpaqueChannel {
 public:
  // The flags of the call that sends the 101, which has no body.
  static constexpr ULONG kHeadFlags =
      HTTP_SEND_RESPONSE_FLAG_OPAQUE | HTTP_SEND_RESPONSE_FLAG_MORE_DATA;

  // Must be called when JavaScript accepts the upgrade. With `is_held`, JavaScript wants the
  // client's bytes only after a second call.
  void Accept(bool is_held) {
    is_accepted_ = true;
    is_held_ = is_held;
  }
  bool is_accepted() const { return is_accepted_; }
  // Must be called when the 101 was sent.
  void Open() { is_open_ = true; }
  bool is_open() const { return is_open_; }
  // Must be called when the client has ended its direction.
  void OnPeerEnd() { has_peer_ended_ = true; }

  // True if bytes of the client must be received.
  bool WantsBytes() const { return is_open_ && !is_held_ && !has_peer_ended_; }

 private:
  bool is_accepted_ = false;
  bool is_held_ = false;
  bool is_open_ = false;
  bool has_peer_ended_ = false;
};

}  // namespace httpsys::win
