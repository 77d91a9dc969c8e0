#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cache/process_cache.h"
#include "engine/config/server_config.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_table.h"
#include "peer/messages.h"

namespace httpsys::engine {

// Gives the cache of this process to members that request it from this lane (readers), and sends
// them every change: descriptors of memory that they can only read, and the scopes of prefixes. A
// reader with unread frames gets nothing more until it has read them. Thread: the lane.
class ArenaGifts final : public CacheAskers {
 public:
  // `post` runs a function on the lane and may be called on any thread.
  using Post = std::function<void(std::function<void()>)>;

  ArenaGifts(uv_loop_t* loop, ProcessCache* cache, const LaneServers* servers, PeerLinks* links,
             Post post);
  ~ArenaGifts() override;
  ArenaGifts& operator=(ArenaGifts&&) = delete;

  // Must be called when a server of the lane has new settings, or has stopped listening.
  void OnServer(uint32_t server_id);
  // Must be called before the loop is closed.
  void Close();

  // Returns the facts about a prefix for readers. `scope` is 0 if they get none of its entries: the
  // server limits connections or bandwidth, serves files, or requests client certificates.
  static peer::CacheScope ScopeOf(const ServerConfig& config, uint32_t server_id,
                                  uint32_t prefix_id);

  // -- CacheAskers.

  void OnCacheFrame(uint64_t link, const peer::Frame& frame, int fd) override;
  void OnLinkGone(uint64_t link) override;

 private:
  // The state of one reader: its requests, and what it was sent.
  struct Reader {
    std::shared_ptr<const cache::SharedMemory> hits;
    std::shared_ptr<const cache::SharedMemory> index;
    bool is_asking = false;  // The reader has requested a scope, so it gets the arena.
    // The reader has requested the counters, and does not have them yet.
    bool wants_counters = false;
    std::vector<uint64_t> serials;  // By chunk; 0 = none.
    // The last kCacheScope payload by ForeignScope::Key(); empty = must be sent.
    std::map<uint64_t, std::string> scopes;
  };

  void OnHits(Reader* reader, int fd);
  void OnAsk(Reader* reader, const peer::Frame& frame);
  bool TellCounters(uint64_t link, Reader* reader);
  bool TellScopes(uint64_t link, Reader* reader);
  // Sends a reader all changes. Returns false if the reader must read earlier frames first.
  bool Tell(uint64_t link, const ProcessCache::Memory& memory, Reader* reader);
  bool TellScope(uint64_t link, uint64_t key, std::string* told);
  void TellAll();
  void TellOne(uint64_t link);
  void ArmTimer();

  ProcessCache* cache_;
  const LaneServers* servers_;
  PeerLinks* links_;
  const Post post_;
  uv_timer_t timer_;
  bool is_closed_ = false;
  bool is_watching_ = false;
  uint64_t owners_version_ = 1;         // CoOwners::version() of the scopes that readers have.
  std::map<uint64_t, Reader> readers_;  // By link.
};

}  // namespace httpsys::engine
