#pragma once
// How many bytes of bodies and tunnels JavaScript is given ahead of what it has consumed.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

// The receive windows of a lane. Each connection has limits::kReceiveWindowBytes. A connection
// whose JavaScript consumes them at once borrows more out of a sum of the lane: a socket that is
// read empty is several times cheaper, byte by byte, than one that stays full, for which the kernel
// acknowledges each piece and takes the client's next one in the time of the reader. Thread: the
// lane.
class ReceiveWindows {
 public:
  ReceiveWindows() = default;
  ReceiveWindows(const ReceiveWindows&) = delete;
  ReceiveWindows& operator=(const ReceiveWindows&) = delete;

  // Bytes of body or tunnel are given to JavaScript.
  static void Use(Connection* connection, size_t bytes) {
    // A message of a WebSocket may be as long as the number counts.
    const int64_t left = connection->input.window_bytes_ - static_cast<int64_t>(bytes);
    connection->input.window_bytes_ = static_cast<int32_t>(std::max<int64_t>(left, INT32_MIN));
  }
  // Another server gets the connection: its JavaScript has not been given anything.
  static void Reset(Connection* connection) {
    connection->input.window_bytes_ = Most(connection->input);
  }

  // `now_ms` is uv_now() of the loop.

  // The socket is about to be read.
  void BeginRead(Connection* connection) {
    // An echo of a tunnel that is given more than its send credit waits for its client, and a
    // stream of `ws` loses what waits when the close frame comes.
    if (connection->input.keeps_up_ && !IsTunnel(connection->phase())) Lend(connection);
  }
  // The socket was read. EndRead() is to be called if this returns true.
  static bool MustEndRead(const Connection& connection) {
    return connection.input.has_extra_ || (connection.watch.pauses() & kPauseWindow) != 0;
  }
  void EndRead(Connection* connection, uint64_t now_ms);
  // JavaScript has consumed `bytes`. Returns true if the input waits for that.
  bool Give(Connection* connection, uint32_t bytes, uint64_t now_ms);
  // True if the connection has more than the usual window.
  static bool HasExtra(const Connection& connection) { return connection.input.has_extra_; }
  // The connection leaves the lane.
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
