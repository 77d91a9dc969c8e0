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
  // `on_timeout` hears of a connection whose time has run out, and may start it anew.
  ConnectionTimers(uv_loop_t* loop, std::function<void(Connection*)> on_timeout);
  ConnectionTimers(const ConnectionTimers&) = delete;
  ConnectionTimers& operator=(const ConnectionTimers&) = delete;
  // Before the loop is closed.
  void Close();

  // Restarts a running timer.
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
