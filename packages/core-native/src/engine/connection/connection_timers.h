#pragma once
// The time of a lane: when its connections have been idle or slow for too long.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/output_pass.h"

namespace httpsys::engine {

// The time of the current turn of a lane's loop. The first call of Ns() in a turn reads the clock.
// Thread: the lane.
class PassClock {
 public:
  void BeginPass() { now_ns_ = 0; }
  uint64_t Ns() {
    if (now_ns_ == 0) now_ns_ = uv_hrtime();
    return now_ns_;
  }
  uint64_t Ms() { return Ns() / 1'000'000; }

 private:
  uint64_t now_ns_ = 0;
};

// Many timers with few distinct durations. There is one list per duration, in order of expiry, so
// that starting or stopping a timer costs a few pointer writes. The caller supplies the time.
// Thread: one at a time.
class TimerLists {
 public:
  // Starts a node, or restarts it if it runs. If there are more than limits::kTimerListsMax
  // durations at a time, a node uses the list of the next shorter duration. Returns true if the
  // earliest deadline may have changed.
  bool Start(TimerNode* node, uint64_t now_ms, uint64_t duration_ms);
  void Stop(TimerNode* node);
  // Stops and returns one node whose deadline has passed, or nullptr.
  TimerNode* TakeExpired(uint64_t now_ms);
  // The earliest deadline; UINT64_MAX if no node runs.
  uint64_t NextDeadline() const;

 private:
  struct List {
    uint64_t duration_ms = 0;
    TimerNode* first = nullptr;
    TimerNode* last = nullptr;
  };

  size_t FindList(uint64_t duration_ms);

  std::vector<List> lists_;
  size_t newest_ = 0;  // The list in which a timer was started last.
};

// The timers of a lane's connections. They share one timer of its loop. Thread: the lane.
class ConnectionTimers {
 public:
  // Calls `on_timeout` with each connection whose timer has expired. The callee may start the timer
  // again.
  ConnectionTimers(uv_loop_t* loop, std::function<void(Connection*)> on_timeout);
  ConnectionTimers& operator=(ConnectionTimers&&) = delete;
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

// Finds clients that read their responses more slowly than their server's minSendRate. The timer
// runs only while such a client has unsent output. Thread: the lane.
class SlowClients {
 public:
  // Calls a function with every connection of the lane.
  using ForEach = std::function<void(const std::function<void(Connection*)>&)>;

  // `on_slow` may close the connection that it is called with, and others.
  SlowClients(uv_loop_t* loop, ForEach for_each, std::function<void(Connection*)> on_slow);
  SlowClients& operator=(SlowClients&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Called when the socket of the connection did not take all output: the measurement begins.
  void Watch(const Connection& connection);

 private:
  static void OnTimer(uv_timer_t* timer);
  bool IsTooSlow(Connection* connection) const;

  uv_loop_t* loop_;
  ForEach for_each_;
  std::function<void(Connection*)> on_slow_;
  uv_timer_t timer_;
};

}  // namespace httpsys::engine
