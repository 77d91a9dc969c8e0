#pragma once
// Holds back the output of prefixes that have used up their maxBandwidth.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/rate_bucket.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {

// The one writer of UncommonState::Bandwidth. Connections and streams whose output waits form a
// line for each bucket, in the order of their tickets. The timer runs only while a line is not
// empty. Thread: the lane.
class Throttle {
 public:
  // `on_released` is called when the output of a connection is no longer held. It may close that
  // connection, and others.
  Throttle(uv_loop_t* loop, std::function<void(Connection*)> on_released);
  Throttle& operator=(Throttle&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // If the server has a limit, counts the later output of the connection or stream for this prefix.
  // If unsent answers count for another prefix, changes nothing and returns false: they must be
  // sent first. Returns true otherwise.
  bool Begin(Connection* connection, uint32_t prefix_id) {
    const bool is_limited = connection->server()->config->settings().max_bandwidth != 0;
    if (!is_limited && !connection->is_throttled()) return true;
    return Change(connection, BucketOf(*connection, prefix_id));
  }
  // Stops counting the output, because another member answers or the connection ends. Returns to
  // the bucket the bytes that were taken from it but not sent.
  void End(Connection* connection) {
    if (connection->is_throttled()) Leave(connection);
  }

  // Returns how many bytes of an is_throttled() connection may be sent now, at most `want`, which
  // must be above 0. Returns 0 if the output is held until on_released is called.
  size_t Take(Connection* connection, size_t want);
  // Must be called when an is_throttled() connection has sent bytes that Take() had allowed.
  static void Spend(Connection* connection, size_t bytes);

  // Returns true if the output is held, or has been held since the last call.
  static bool TakeHeld(Connection* connection);

 private:
  struct Line {
    std::shared_ptr<RateBucket> bucket;
    std::map<uint64_t, Connection*> waiting;  // The waiting connections, by ticket.
  };

  static std::shared_ptr<RateBucket> BucketOf(const Connection& connection, uint32_t prefix_id);
  bool Change(Connection* connection, std::shared_ptr<RateBucket> bucket);
  void Leave(Connection* connection);
  void Arm(uint64_t wait_ns);
  void Release();

  uv_timer_t timer_;
  std::function<void(Connection*)> on_released_;
  std::unordered_map<const RateBucket*, Line> lines_;
};

}  // namespace httpsys::engine
