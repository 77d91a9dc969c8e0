#pragma once

#include <uv.h>

#include <cstdint>

namespace httpsys::engine {

// The reasons not to read a connection's input.
enum PauseReason : uint8_t {
  kPauseWindow = 1 << 0,  // The receive window is used up: JavaScript must consume body or tunnel.
  kPausePipeline = 1 << 1,  // The limit of unanswered requests (pipelinedRequestsMax) is reached.
  kPauseOrder = 1 << 2,     // The next request waits for earlier answers, or for its owner.
  // An upgrade waits for JavaScript, or another member, to accept or decline it.
  kPauseUpgrade = 1 << 3,
  // The lane has no free request segment, or no block to receive into (ReceiveQueue).
  kPauseMemory = 1 << 4,
  // Nothing is read any more: the input has ended or the connection is ending.
  kPauseOver = 1 << 5,
  kPauseRelay = 1 << 6,  // The member that answers the relayed request cannot take more bytes now.
  // A request head waits because more than limits::kUnsentBytesMax of output are unsent.
  kPauseOutput = 1 << 7,
};

// The state of the watch on one connection's socket. Only SocketWatch writes it; everybody reads
// it.
class WatchState {
 public:
  // The reasons not to read, a set of PauseReason.
  uint8_t pauses() const { return pauses_; }
  bool waits_for_disk() const { return waits_for_disk_; }
  bool is_disconnect_told() const { return is_disconnect_told_; }

 private:
  friend class SocketWatch;

  uv_poll_t poll_;
  uint8_t poll_events_ = 0;
  uint8_t pauses_ = 0;
  bool is_watchable_ : 1 = false;        // `poll_` is initialized.
  bool is_unwatchable_ : 1 = false;      // Initializing `poll_` has failed.
  bool is_left_alone_ : 1 = false;       // The connection is in SocketWatch::left_alone_.
  bool is_pending_ : 1 = false;          // The connection is in SocketWatch::pending_.
  bool waits_for_disk_ : 1 = false;      // The next request waits for a disk (kPauseOrder).
  bool is_disconnect_told_ : 1 = false;  // OnDisconnect() was called since reading has paused.
};

}  // namespace httpsys::engine
