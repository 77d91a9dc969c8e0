#pragma once
// Bandwidth limits of an engine's prefixes; all lanes of the engine share them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/rate_bucket.h"
#include "engine/config/server_config.h"
#include "url/url_prefix.h"

namespace httpsys::engine {

// Makes a bucket for a prefix of a server with maxBandwidth, on the prefix's first request. If
// other members own the prefix, too, the bucket gets only its share of the rate. Thread: any.
class Bandwidths {
 public:
  // Identifies the prefix of a bucket.
  struct Place {
    uint32_t server_id = 0;
    uint32_t prefix_id = 0;  // 0 for a server of a whole port.
    uint16_t port = 0;       // 0 = no TCP.
    std::string text;        // The prefix; empty = a server of a whole port.
    UrlPrefix prefix;        // Valid if `text` is not empty.
  };
  // Counts the owners of a prefix; 0 = not registered.
  using CountOwners = std::function<size_t(const Place& place)>;

  Bandwidths& operator=(Bandwidths&&) = delete;

  // Returns the bucket of a prefix of the server, whose settings must have a max_bandwidth.
  // `local_port` is the local port of the connection.
  std::shared_ptr<RateBucket> Of(uint32_t server_id, const ServerConfig& config, uint32_t prefix_id,
                                 uint16_t local_port);
  // Must be called when the owners on a port have changed. Gives every bucket of the port its new
  // share. nullptr = the port is no longer used.
  void SetOwners(uint16_t port, CountOwners count);
  // Must be called when the server has stopped listening. Connections may still use its buckets.
  void Forget(uint32_t server_id);

 private:
  struct Entry {
    Place place;
    std::shared_ptr<RateBucket> bucket;
    bool is_over = false;  // The server has stopped listening.
  };

  void Share(const Entry& entry) const;

  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, Entry> entries_;  // Keyed by server and prefix id.
  std::map<uint16_t, CountOwners> counts_;                  // Keyed by port.
};

}  // namespace httpsys::engine
