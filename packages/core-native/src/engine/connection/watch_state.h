#pragma once

#include <uv.h>

#include <cstdint>

namespace httpsys::engine {

// Why input is left unread.
enum PauseReason : uint8_t {
  kPauseWindow = 1 << 0,    // JavaScript has not consumed enough of the body.
  kPausePipeline = 1 << 1,  // Enough requests wait for their answers.
  kPauseOrder = 1 << 2,     // A native answer waits for the answers before it.
  kPauseUpgrade = 1 << 3,
  kPauseMemory = 1 << 4,  // No segment is free.
  kPauseOver = 1 << 5,
  kPauseRelay = 1 << 6,  // The member that answers does not read.
  // Before a head: more than limits::kUnsentBytesMax wait for the socket to take them.
  kPauseOutput = 1 << 7,
};

// How the socket of one connection is watched. Everybody reads it, SocketWatch alone writes it.
class WatchState {
 public:
  // The reasons not to read, a set of PauseReason.
  uint8_t pauses() const { return pauses_; }

 private:
  friend class SocketWatch;

  uv_poll_t poll_;
  uint8_t poll_events_ = 0;
  uint8_t pauses_ = 0;
  bool is_watchable_ : 1 = false;        // `poll_` is initialized.
  bool is_unwatchable_ : 1 = false;      // Initializing `poll_` has failed.
  bool is_left_alone_ : 1 = false;       // SocketWatch looks at the connection later.
  bool is_pending_ : 1 = false;          // Input is there, and poll() does not tell of it.
  bool is_disconnect_told_ : 1 = false;  // OnDisconnect() was called in this pause.
};

}  // namespace httpsys::engine
