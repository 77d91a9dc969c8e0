#pragma once
// The timers of a lane's connections. They share one timer of its loop.

#include <uv.h>

#include <cstdint>
#include <functional>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/timer_lists.h"

namespace httpsys::engine {

// Thread: the lane.
class ConnectionTimers {
 public:
  // Calls `on_timeout` with each connection whose timer has expired. The callee may start the timer
  // again.
  ConnectionTimers(uv_loop_t* loop, std::function<void(Connection*)> on_timeout);
  ConnectionTimers(const ConnectionTimers&) = delete;
  ConnectionTimers& operator=(const ConnectionTimers&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Starts the connection's timer, or restarts it if it is running.
  void Start(Connection* connection, uint64_t timeout_ms);
  uint64_t NowMs() const { return uv_now(loop_); }
  void Stop(Connection* connection) { lists_.Stop(connection); }
  // Sets how long the connection may be idle from now on; 0 = no limit.
  static void SetIdleTimeout(Connection* connection, uint32_t timeout_ms) {
    connection->idle.timeout_ms_ = timeout_ms;
  }
  // Must be called when bytes of the connection or stream were read or written.
  static void SetActive(Connection* connection, uint64_t now_ms) {
    connection->idle.active_ms_ = static_cast<uint32_t>(now_ms);
  }
  // Returns for how long nothing was read or written; 0 while maxBandwidth holds the output,
  // because the client is not to blame for that.
  uint32_t SilentMs(const Connection& connection) const {
    if (connection.is_throttle_waiting()) return 0;
    return static_cast<uint32_t>(NowMs()) - connection.idle.active_ms();
  }
  // Sets the server's idle timeout for a connection for which JavaScript has set none.
  static void LimitIdle(Connection* connection) {
    if (connection->idle.timeout_ms_ != 0) return;
    connection->idle.timeout_ms_ = connection->server()->config->settings().idle_ms;
  }

 private:
  static void OnTimer(uv_timer_t* timer);
  void Arm();

  uv_loop_t* loop_;
  std::function<void(Connection*)> on_timeout_;
  uv_timer_t timer_;
  uint64_t deadline_ms_ = UINT64_MAX;  // When timer_ fires; UINT64_MAX = timer_ does not run.
  TimerLists lists_;
};

}  // namespace httpsys::engine
