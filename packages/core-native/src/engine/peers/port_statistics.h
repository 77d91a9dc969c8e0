#pragma once
// Counters of an engine's ports and prefixes, for `httpsys show servicestate`.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/connection/lane_server.h"
#include "sharing/port_effects.h"

namespace httpsys::engine {

// Counters live as long as the object: lanes keep pointers to them. Thread: any.
class PortStatistics {
 public:
  using Counter = std::atomic<uint64_t>;

  using Port = MemberCounters<Counter>;
  struct Server : QueueCounters<Counter> {
    ConnectionCounts connections;
  };

  Port* PortOf(uint16_t number);
  Server* ServerOf(uint32_t id);
  // Returns the counter of one lane, which only that lane writes, so that counting needs no locked
  // instruction. Read() returns the sum over all lanes. A lane must pass the same pointer `lane` in
  // each call.
  Counter* RequestsOf(const void* lane, uint32_t server_id, uint32_t prefix_id);
  // Changes a counter that only the calling lane writes.
  static void Change(Counter* counter, int64_t by) {
    const uint64_t value = counter->load(std::memory_order_relaxed);
    counter->store(value + static_cast<uint64_t>(by), std::memory_order_relaxed);
  }
  sharing::PortCounters Read(uint16_t number);

 private:
  std::mutex mutex_;
  std::map<uint16_t, std::unique_ptr<Port>> ports_;
  std::map<uint32_t, std::unique_ptr<Server>> servers_;
  // Counters of requests, by server, prefix and lane.
  std::map<std::tuple<uint32_t, uint32_t, const void*>, std::unique_ptr<Counter>> requests_;
};

}  // namespace httpsys::engine
