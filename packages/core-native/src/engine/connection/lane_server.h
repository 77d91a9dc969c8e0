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

// The state of a server in one lane. It is freed when the server has stopped listening and its last
// connection in this lane has ended. Thread: the lane.
struct LaneServer {
  uint32_t id = 0;
  // The number of the server's connections and streams in this lane.
  uint32_t connections = 0;
  // The server has stopped listening.
  bool is_unlistened = false;
  // The JavaScript environment that made the server, and hears of its connections.
  Attachment* attachment = nullptr;
  // Counters of the server, shared by all lanes: its requests that JavaScript has not begun, and
  // the requests that were refused because these were too many.
  std::atomic<uint64_t>* queued = nullptr;
  std::atomic<uint64_t>* refused = nullptr;
  // Counts of the server's connections per client and per prefix, shared by all lanes.
  ConnectionCounts* counts = nullptr;
  // This lane's counters of requests, by prefix id; nullptr until the first request.
  std::vector<std::atomic<uint64_t>*> requests;
  std::shared_ptr<const ServerConfig> config;
  // The rate buckets of all lanes, for servers with a max_bandwidth. `buckets` has the ones that
  // this lane has used since the settings changed, by prefix id.
  Bandwidths* bandwidths = nullptr;
  std::vector<std::shared_ptr<RateBucket>> buckets;
};

}  // namespace httpsys::engine
