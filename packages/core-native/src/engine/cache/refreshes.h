#pragma once
// Requests that the lane itself makes, in order to refresh stale entries.

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/cache/process_cache.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/connection/lane_server.h"
#include "engine/connection/transport.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Gives JavaScript requests of the cache (cache/own_request.h) on connections without a client,
// which look as if another member relayed them. The answers go only to the cache. If a request has
// no complete answer after the time of its server (CacheTerms::refresh_ms), it is given up, so that
// handlers that never answer do not keep other requests from starting. Thread: the lane.
class Refreshes {
 public:
  // Maximum number of own requests for one server in one lane at a time: clients decide how many
  // stale entries they request, and each own request needs descriptors and a handler of JavaScript.
  static constexpr size_t kServerMax = 16;

  using Servers = std::unordered_map<uint32_t, std::unique_ptr<LaneServer>>;  // Keyed by id.

  // `post` is as in FileOutput. Close() must be called.
  Refreshes(uv_loop_t* loop, ProcessCache* cache, const http1::MethodTable* methods,
            const Servers* servers, Transport* transport, Input* input, WaitingMisses* waiting,
            FileOutput::Post post);
  Refreshes& operator=(Refreshes&&) = delete;

  // BeginStale() and BeginAwaited() send their request after the present pass. `request` is the
  // request for JavaScript, which sees the client of `connection`, whose request caused it.

  // Starts a refresh of the stale entry with this key, unless a lane of the process refreshes it
  // already or the server has kServerMax own requests. `mark` is from before the entry was found.
  void BeginStale(const Connection* connection, http1::RequestHead request, const std::string& key,
                  ProcessCache::StoreMark mark);
  // Requests the response with this key, for which other requests wait, from JavaScript. Returns
  // false if this lane does that already, or if the server has too many own requests.
  bool BeginAwaited(const Connection* connection, http1::RequestHead request,
                    const std::string& key);
  // If requests of clients wait for the answer to the cache's own request on `connection`, sets
  // `key` to their key and returns true; returns false from the second call on.
  bool TakeAwaited(const Connection* connection, std::string* key);
  // True if the connection has no client, because its request is the cache's own.
  bool Has(const Connection* connection) const {
    return !by_connection_.empty() && by_connection_.contains(connection);
  }
  void OnDetached(const Connection* connection);
  // Must be called after all connections are closed and before the loop is. Afterwards other lanes
  // may refresh the entries that this lane was refreshing.
  void Close();

 private:
  struct Refresh {
    std::string key;
    uint32_t server_id = 0;
    bool is_awaited = false;  // Other requests wait, and JavaScript has not got the request yet.
    uint64_t deadline_ms = 0;
    Connection* connection = nullptr;
    int other_end = -1;  // The client's end of the socket pair, from which nothing is read.
  };
  struct Start {
    Refresh refresh;
    std::string text;
    std::shared_ptr<const RelayOrigin> origin;
  };

  bool HasPlace(const Connection* connection, const std::string& key) const;
  void Begin(const Connection* connection, http1::RequestHead request, const std::string& key,
             bool is_awaited);
  void Open(const Start& start);
  void Forget(const Refresh& refresh);
  void GiveUpOverdue();
  // Sets the timer to the earliest deadline.
  void ArmTimer();

  uv_loop_t* loop_;
  ProcessCache* cache_;
  const http1::MethodTable* methods_;
  const Servers* servers_;
  Transport* transport_;
  Input* input_;
  WaitingMisses* waiting_;
  const FileOutput::Post post_;
  std::unordered_map<std::string, uint32_t> keys_;  // Keys in progress, each with its server's id.
  std::unordered_map<const Connection*, Refresh> by_connection_;
  uv_timer_t timer_;
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
