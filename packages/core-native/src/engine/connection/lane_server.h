#pragma once
// A server in one lane, and the counts of its connections.

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/config/bandwidths.h"
#include "engine/config/server_config.h"
#include "engine/connection/attachment.h"

namespace httpsys::engine {

// The counts of one server, for all lanes. Thread: any.
class ConnectionCounts {
 public:
  // A group of connections with one count: the connections of a client, or those for a prefix.
  struct Group {
    bool is_client = false;
    // The client's address; of an IPv6 address, the first 64 bits.
    std::array<uint8_t, 16> client{};
    uint32_t prefix_id = 0;  // Valid if is_client is false.

    auto operator<=>(const Group&) const = default;
  };

  // Counts a connection. If the group has `most` connections, counts nothing and returns false.
  // `relayed` names a client's connection whose requests another member relays: all calls with the
  // same name count as one connection. Empty = the client is connected to this process.
  bool Add(const Group& group, const std::string& relayed, uint32_t most);
  // Undoes one Add().
  void Remove(const Group& group, const std::string& relayed);
  bool IsFull(const Group& group, uint32_t most);

 private:
  struct Count {
    uint32_t connections = 0;
    // How many times each name of a relayed connection was added.
    std::map<std::string, uint32_t> relayed;
  };

  std::mutex mutex_;
  std::map<Group, Count> counts_;
};

// The state of a server in one lane. It is freed when the server has stopped listening and its last
// connection in this lane has ended. Thread: the lane.
struct LaneServer {
  uint32_t id = 0;
  // The number of the server's connections and streams in this lane.
  uint32_t connections = 0;
  // True if the server has stopped listening.
  bool is_unlistened = false;
  // The JavaScript environment that made the server, and receives its connections' records.
  Attachment* attachment = nullptr;
  // Counters of the server, shared by all lanes: the requests that JavaScript has not begun, and
  // the requests that were refused because too many were not begun.
  std::atomic<uint64_t>* queued = nullptr;
  std::atomic<uint64_t>* refused = nullptr;
  // Counts of the server's connections per client and per prefix, shared by all lanes.
  ConnectionCounts* counts = nullptr;
  // This lane's counters of requests, by prefix id; nullptr until the first request.
  std::vector<std::atomic<uint64_t>*> requests;
  std::shared_ptr<const ServerConfig> config;
  // `bandwidths` has the rate buckets of all lanes, for servers with a max_bandwidth. `buckets`
  // has, by prefix id, the buckets that this lane has used since the settings changed.
  Bandwidths* bandwidths = nullptr;
  std::vector<std::shared_ptr<RateBucket>> buckets;
};

}  // namespace httpsys::engine
