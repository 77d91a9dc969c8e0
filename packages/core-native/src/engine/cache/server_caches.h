#pragma once
// The output cache of the process, as used by the servers of one engine.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "engine/cache/cached_url.h"
#include "engine/cache/process_cache.h"
#include "engine/config/cache_terms.h"

namespace httpsys::engine {

// Gives each prefix of a server with a cache its scope. Servers with the same prefix share its
// scope, as they share its queue. Thread: JavaScript; HasCache(), Flush() and Entries() also on the
// thread that answers queries about the state of a port.
class ServerCaches final : public CacheBackend {
 public:
  // `name` distinguishes the engine from others of the process.
  ServerCaches(ProcessCache* cache, std::string name) : cache_(cache), name_(std::move(name)) {}
  ~ServerCaches() override { Close(); }
  ServerCaches& operator=(ServerCaches&&) = delete;

  // Must be called with each version of a server's settings, before its configuration is made from
  // them. Returns nullptr if the server has no cache. A server without a cache gets one only if
  // `settings` has all its prefixes (ServerPrefixes::is_whole). Costs time per changed prefix.
  std::shared_ptr<const CacheTerms> Configure(uint32_t server_id, const ServerSettings& settings);
  // Must be called when the server has stopped listening. Drops its entries.
  void Forget(uint32_t server_id);
  void Close();

  // Returns true if any response of the server may be stored.
  bool HasCache(uint32_t server_id);

  // -- CacheBackend.

  void SetBytes(uint64_t bytes, uint64_t port_bytes) override;
  int64_t Flush(uint32_t server_id, const std::string& url, bool is_recursive) override;
  std::vector<CacheEntry> Entries(uint32_t server_id, const std::string& prefix,
                                  uint32_t limit) override;
  CacheStatistics Statistics(uint32_t server_id) override;

 private:
  struct Prefix {
    std::string text;
    uint32_t scope = 0;  // 0 = no scope.
  };
  struct Server {
    bool is_on = false;
    std::vector<std::string> only;        // CacheSettings::prefixes
    std::map<uint32_t, Prefix> prefixes;  // Keyed by id.
    uint32_t scope_of_everything = 0;
    decltype(CacheTerms::scopes) scopes;  // Scopes of the prefixes.
    std::shared_ptr<CacheCounters> counters = std::make_shared<CacheCounters>();
  };
  using Names = std::vector<std::string>;

  // The mutex must be held for the functions below. `released` gets the names of scopes; the caller
  // must release them after all changes, because another prefix may claim them in between.

  // Sets the text of a prefix; empty = removes it.
  void SetPrefix(Server* server, uint32_t id, const std::string& text, Names* released);
  void SetEverything(Server* server, uint32_t server_id, bool is_everything, Names* released);
  void Clear(Server* server, uint32_t server_id, Names* released);
  void ReleaseAll(const Names& names);
  std::string NameOf(uint32_t server_id) const { return name_ + " " + std::to_string(server_id); }
  // Counts a flush of these URLs for the other owners of the server's prefixes; nullptr = all URLs.
  void TellFlush(uint32_t server_id, const CachedUrlPattern* pattern);
  void Visit(uint32_t server_id, const ProcessCache::Visit& visit);

  ProcessCache* cache_;
  const std::string name_;
  std::mutex mutex_;
  std::map<uint32_t, Server> servers_;
};

}  // namespace httpsys::engine
