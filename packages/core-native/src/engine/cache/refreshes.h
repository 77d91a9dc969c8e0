#pragma once
// Requests that the lane makes itself, so that stale entries become fresh.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/connection/lane_server.h"
#include "engine/connection/transport.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Gives JavaScript requests of the cache (cache/own_request.h) on connections without a client:
// they look as if another member relayed them. The answers go to the cache and nowhere else.
// Thread: the lane.
class Refreshes {
 public:
  static constexpr size_t kServerMax = 16;  // Refreshes of one server at a time.

  using Servers = std::unordered_map<uint32_t, std::unique_ptr<LaneServer>>;  // By id.

  // `post` is as in FileOutput.
  Refreshes(const http1::MethodTable* methods, const Servers* servers, Transport* transport,
            Input* input, WaitingMisses* waiting, FileOutput::Post post)
      : methods_(methods),
        servers_(servers),
        transport_(transport),
        input_(input),
        waiting_(waiting),
        post_(std::move(post)) {}
  Refreshes(const Refreshes&) = delete;
  Refreshes& operator=(const Refreshes&) = delete;

  // Begins to refresh the entry with this key after the present pass. `request` is what JavaScript
  // gets. JavaScript takes its client for that of `connection`, whose request has met the entry.
  // `is_awaited`: others wait for the answer, as for that of a request that leads. Returns false if
  // that is being done already, or if the server has too many.
  bool Begin(const Connection* connection, http1::RequestHead request, const std::string& key,
             bool is_awaited);
  // Returns true, once, if others wait for the answer on this connection, which has no client, and
  // sets the key that they wait with.
  bool TakeAwaited(const Connection* connection, std::string* key);
  // True if the connection has no client.
  bool Has(const Connection* connection) const {
    return !by_connection_.empty() && by_connection_.contains(connection);
  }
  void OnDetached(const Connection* connection);

 private:
  struct Refresh {
    std::string key;
    uint32_t server_id = 0;
    bool is_awaited = false;  // Others wait, and JavaScript has not been asked.
    int other_end = -1;       // Of the connection. Nobody reads what is never written.
  };
  struct Start {
    Refresh refresh;
    std::string text;
    std::shared_ptr<const RelayOrigin> origin;
  };

  void Open(const Start& start);
  void Forget(const Refresh& refresh);

  const http1::MethodTable* methods_;
  const Servers* servers_;
  Transport* transport_;
  Input* input_;
  WaitingMisses* waiting_;
  const FileOutput::Post post_;
  std::unordered_map<std::string, uint32_t> keys_;  // With the ids of their servers.
  std::unordered_map<const Connection*, Refresh> by_connection_;
};

}  // namespace httpsys::engine
