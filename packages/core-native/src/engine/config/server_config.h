#pragma once
// What a lane knows of one listening server.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "http1/request_parser.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// One version of a server's settings; a change makes a new one. Immutable, shared by the lanes.
class ServerConfig {
 public:
  // nullptr when a prefix is not canonical.
  static std::shared_ptr<const ServerConfig> Create(ServerSettings settings);

  const ServerSettings& settings() const { return settings_; }
  // The prefix that owns a request on a connection to `local_port`. A server of a whole port or
  // path takes every Host, as Node does; one with prefixes wants a valid one: http1::HostOf().
  Route FindPrefix(uint16_t local_port, const http1::RequestHead& head,
                   const LocalAddress& local) const;
  // nullptr = plain.
  std::shared_ptr<const tls::ServerContext> TlsOf(uint16_t local_port,
                                                  const LocalAddress& local) const;

 private:
  struct PortTable {
    uint16_t port = 0;
    bool has_plain = false;
    bool has_secure = false;
    bool matches_everything = false;
    uint32_t everything_id = 0;
    UrlPrefixTable table;
  };

  ServerSettings settings_;
  std::vector<PortTable> ports_;
};

// Lives as long as the lane knows of listeners or connections of the server. Thread: the lane.
struct LaneServer {
  uint32_t id = 0;
  uint32_t connections = 0;
  bool is_unlistened = false;
  // Requests not begun by JavaScript, and those that were refused for it; of all lanes.
  std::atomic<uint64_t>* queued = nullptr;
  std::atomic<uint64_t>* refused = nullptr;
  // By prefix id, found when first counted.
  std::vector<std::atomic<uint64_t>*> requests;
  std::shared_ptr<const ServerConfig> config;
};

}  // namespace httpsys::engine
