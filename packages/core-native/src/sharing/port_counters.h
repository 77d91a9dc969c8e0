#pragma once
// Counters of a member on a port since it started, for reports of the port's state.

#include <cstdint>
#include <map>
#include <utility>

namespace httpsys::sharing {

struct PortCounters {
  uint64_t connections = 0;  // Connections that are open and known to JavaScript.
  uint64_t handed_over = 0;
  uint64_t received = 0;
  uint64_t cache_answers = 0;  // Answers given from the caches of other members.
  struct Server {
    uint64_t queued = 0;
    uint64_t queue_limit = 0;
    uint64_t refused = 0;  // Requests refused because the queue was full.
  };
  std::map<uint32_t, Server> servers;
  // The number of requests, by server id and prefix id.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> requests;
};

}  // namespace httpsys::sharing
