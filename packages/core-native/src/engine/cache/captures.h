#pragma once
// The requests that JavaScript was given and whose answers concern the cache.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/cache/capture.h"
#include "engine/cache/waiting_misses.h"
#include "engine/connection/connection.h"
#include "records/replies.h"

namespace httpsys::engine {

// What the answer to one request does to the cache.
struct CacheExchange {
  // Not nullptr: the answer may be stored.
  std::unique_ptr<Capture> capture;
  // Not nullptr: the request is unsafe, and makes entries obsolete.
  std::unique_ptr<CapturedRequest> unsafe;
  std::shared_ptr<const CacheTerms> terms;
  uint32_t scope = 0;
  bool is_secure = false;
  // Other requests wait for the answer, under this key with this hash.
  bool leads = false;
  bool is_decided = false;  // They know what becomes of it.
  std::string key;
  uint64_t hash = 0;
};

// Sees each reply record before it is handled, so that a response is in the cache before its last
// bytes leave. Thread: the lane.
class Captures {
 public:
  Captures(ProcessCache* cache, WaitingMisses* waiting) : cache_(cache), waiting_(waiting) {}
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // JavaScript was given a request, the newest one of the connection or stream. nullptr = its
  // answer does not concern the cache.
  void Add(const Connection* connection, std::unique_ptr<CacheExchange> exchange);
  // False if no answer is awaited that concerns the cache.
  bool is_active() const { return !exchanges_.empty(); }
  void OnReply(Connection* connection, const ReplyRecord& reply);
  void OnDetached(const Connection* connection);

 private:
  // The unanswered requests of one connection, from the oldest one on; nullptr as for Add().
  using Exchanges = std::deque<std::unique_ptr<CacheExchange>>;

  void OnOutput(Connection* connection, CacheExchange* exchange, const ReplyRecord& reply);
  void OnBlock(Connection* connection, Capture* capture, const ReplyRecord& reply);
  void Invalidate(CacheExchange* exchange, const ReplyRecord& reply);
  void DropUrl(const CacheExchange& exchange, std::string_view reference);
  // Tells those that wait, once it is known what becomes of the answer.
  void Decide(CacheExchange* exchange);
  void Lose(CacheExchange* exchange);
  void LoseAll(Exchanges* exchanges);

  ProcessCache* cache_;
  WaitingMisses* waiting_;
  std::unordered_map<const Connection*, Exchanges> exchanges_;
};

}  // namespace httpsys::engine
