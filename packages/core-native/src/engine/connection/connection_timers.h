#pragma once
// The timers of a lane's connections, on one timer of its loop.

#include <uv.h>

#include <cstdint>
#include <functional>

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
  void Stop(Connection* connection) { lists_.Stop(connection); }

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
