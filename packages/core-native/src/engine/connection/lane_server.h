#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/config/bandwidths.h"
#include "engine/config/server_config.h"
#include "engine/connection/attachment.h"
#include "engine/connection/connection_counts.h"

namespace httpsys::engine {

// The state of a server in one lane. Lives until the server has stopped listening and its last
// connection in this lane has gone. Thread: the lane.
struct LaneServer {
  uint32_t id = 0;
  // The number of its connections and streams.
  uint32_t connections = 0;
  // The server has stopped listening.
  bool is_unlistened = false;
  // The JavaScript environment that made the server, and hears of its connections.
  Attachment* attachment = nullptr;
  // Counters of all lanes together: requests that JavaScript has not begun, and requests that were
  // refused for that reason.
  std::atomic<uint64_t>* queued = nullptr;
  std::atomic<uint64_t>* refused = nullptr;
  // The connections of all lanes together, as far as they are limited.
  ConnectionCounts* counts = nullptr;
  // This lane's counters of requests, by prefix id; nullptr until the first request.
  std::vector<std::atomic<uint64_t>*> requests;
  std::shared_ptr<const ServerConfig> config;
  // The buckets of all lanes, and those of this server that were used since its settings changed,
  // by prefix id. For servers with a bandwidth_max.
  Bandwidths* bandwidths = nullptr;
  std::vector<std::shared_ptr<RateBucket>> buckets;
};

}  // namespace httpsys::engine
