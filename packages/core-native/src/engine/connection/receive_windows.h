#pragma once
// Limits how many unconsumed bytes of bodies and tunnels JavaScript gets.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

// The receive windows of a lane. Each connection has limits::kReceiveWindowBytes. A connection
// whose JavaScript consumes its window at once borrows more, up to a total for the lane. Reading a
// socket until it is empty costs a fraction per byte: for a socket that stays full, the kernel
// acknowledges each piece and takes the client's next one in the reader's time. Thread: the lane.
class ReceiveWindows {
 public:
  ReceiveWindows() = default;
  ReceiveWindows(const ReceiveWindows&) = delete;
  ReceiveWindows& operator=(const ReceiveWindows&) = delete;

  // Must be called when JavaScript gets bytes of body or tunnel.
  static void Use(Connection* connection, size_t bytes) {
    // Clamp: a WebSocket message may be as long as the largest number.
    const int64_t left = connection->input.window_bytes_ - static_cast<int64_t>(bytes);
    connection->input.window_bytes_ = static_cast<int32_t>(std::max<int64_t>(left, INT32_MIN));
  }
  // Must be called when another server gets the connection: its JavaScript has received nothing
  // yet.
  static void Reset(Connection* connection) {
    connection->input.window_bytes_ = Most(connection->input);
  }

  // `now_ms` is uv_now() of the loop.

  // Must be called before the socket is read.
  void BeginRead(Connection* connection) {
    // No extra window for tunnels: an echo server that gets more than its send credit waits for its
    // client, and `ws` loses waiting data when the close frame comes.
    if (connection->input.keeps_up_ && !IsTunnel(connection->phase())) Lend(connection);
  }
  // Must be called after the socket was read. If it returns true, the caller must call EndRead().
  static bool MustEndRead(const Connection& connection) {
    return connection.input.has_extra_ || (connection.watch.pauses() & kPauseWindow) != 0;
  }
  void EndRead(Connection* connection, uint64_t now_ms);
  // Called when JavaScript has consumed `bytes`. Returns true if the input waited for that and may
  // be resumed.
  bool Give(Connection* connection, uint32_t bytes, uint64_t now_ms);
  // True if the connection has the extra window.
  static bool HasExtra(const Connection& connection) { return connection.input.has_extra_; }
  // Must be called when the connection leaves the lane.
  void OnDetached(Connection* connection);

 private:
  static constexpr int32_t Most(const InputState& input) {
    return limits::kReceiveWindowBytes + (input.has_extra_ ? limits::kReceiveExtraBytes : 0);
  }
  void Lend(Connection* connection);
  void TakeBack(InputState* input);
  void TakeBackUnused(InputState* input);

  size_t extra_left_ = limits::kReceiveExtraMax;
};

}  // namespace httpsys::engine
