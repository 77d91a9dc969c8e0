#pragma once
// Finds clients that read their responses more slowly than their server's minSendRate.

#include <uv.h>

#include <functional>

#include "engine/connection/connection.h"
#include "engine/connection/output_pass.h"

namespace httpsys::engine {

// Measures the clients of servers that have a minSendRate. The timer runs only while such a client
// has unsent output. Thread: the lane.
class SlowClients {
 public:
  // Calls a function with every connection of the lane.
  using ForEach = std::function<void(const std::function<void(Connection*)>&)>;

  // `on_slow` may close the connection that it is called with, and others.
  SlowClients(uv_loop_t* loop, ForEach for_each, std::function<void(Connection*)> on_slow);
  SlowClients(const SlowClients&) = delete;
  SlowClients& operator=(const SlowClients&) = delete;
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
