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

// The one writer of UncommonState::Bandwidth. Connections and streams whose output waits stand in a
// line for each bucket, in the order of their tickets. The timer runs only while somebody waits.
// Thread: the lane.
class Throttle {
 public:
  // `on_released`: the output of the connection may go on. It may close the connection, and others.
  Throttle(uv_loop_t* loop, std::function<void(Connection*)> on_released);
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // The output of the connection or stream counts from here on for this prefix of its server, if
  // the server has a limit. Returns false, and changes nothing, if unsent answers count for another
  // prefix: they have to leave first.
  bool Begin(Connection* connection, uint32_t prefix_id) {
    const bool is_limited = connection->server()->config->settings().bandwidth_max != 0;
    if (!is_limited && !connection->is_throttled()) return true;
    return Change(connection, BucketOf(*connection, prefix_id));
  }
  // The output does not count any more: somebody else answers, or the connection ends. Bytes that
  // were taken and not sent are given back.
  void End(Connection* connection) {
    if (connection->is_throttled()) Leave(connection);
  }

  // The next two are for connections that are is_throttled().

  // Returns how many of the `want` bytes may be sent now, at most; 0 = the output is held, and
  // on_released will be called. `want` is above 0.
  size_t Take(Connection* connection, size_t want);
  // Bytes were sent, of those that Take() has allowed.
  static void Spend(Connection* connection, size_t bytes);

  // Returns true if the output is held, or was since the last call.
  static bool TakeHeld(Connection* connection);

 private:
  struct Line {
    std::shared_ptr<RateBucket> bucket;
    std::map<uint64_t, Connection*> waiting;  // By ticket.
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
