#include "engine/shared_cache/arena_gifts.h"

#include <unistd.h>

#include <utility>

#include "base/limits.h"
#include "cache/shared_memory.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "tls/server_context.h"
#include "url/url_prefix.h"

namespace httpsys::engine {

using cache::SharedMemory;
using peer::FrameType;

ArenaGifts::ArenaGifts(uv_loop_t* loop, ProcessCache* cache, const LaneServers* servers,
                       PeerLinks* links, Post post)
    : cache_(cache), servers_(servers), links_(links), post_(std::move(post)) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

ArenaGifts::~ArenaGifts() { cache_->Unwatch(this); }

void ArenaGifts::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  cache_->Unwatch(this);
  for (auto& [link, reader] : readers_) {
    if (reader.hits != nullptr) cache_->RemoveHits(reader.hits);
  }
  readers_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

// -- Scopes.

peer::CacheScope ArenaGifts::ScopeOf(const ServerConfig& config, uint32_t server_id,
                                     uint32_t prefix_id) {
  const ServerSettings& settings = config.settings();
  peer::CacheScope told{server_id, prefix_id, 0, 0, config.PrefixText(prefix_id), {}};
  UrlPrefix prefix;
  const bool is_secure =
      config.has_prefixes()
          ? ParseUrlPrefix(told.prefix, &prefix) == PrefixError::kNone && prefix.is_https
          : config.tls() != nullptr;
  if (is_secure && config.tls() != nullptr) told.terms = config.tls()->negotiation();
  const bool asks_clients = config.tls() != nullptr && config.tls()->settings().request_cert;
  // No scope for servers with static files: another member does not know which files a folder has.
  if (config.cache() == nullptr || config.has_statics() || settings.max_bandwidth != 0 ||
      settings.max_connections_per_address != 0 || settings.max_connections_per_prefix != 0 ||
      asks_clients || told.terms.empty() == is_secure) {
    return told;
  }
  told.scope = config.cache()->ScopeOf(prefix_id);
  if (config.cache()->options.freshness.ignores_reload) told.flags |= peer::kScopeIgnoresReload;
  if (config.cache()->tells_status) told.flags |= peer::kScopeTellsStatus;
  if (settings.strict_url) told.flags |= peer::kScopeStrictUrl;
  return told;
}

// -- Readers.

void ArenaGifts::OnCacheFrame(uint64_t link, const peer::Frame& frame, int fd) {
  const bool is_known = readers_.contains(link);
  if (!is_closed_ && (is_known || readers_.size() < limits::kCacheReadersMax)) {
    if (!is_watching_) {
      is_watching_ = true;
      cache_->Watch(this, [this] { post_([this] { TellAll(); }); });
    }
    Reader& reader = readers_[link];
    if (frame.type == FrameType::kCacheHits) OnHits(&reader, fd);
    if (frame.type == FrameType::kCacheAsk) OnAsk(&reader, frame);
    if (frame.type == FrameType::kCacheFollow) reader.wants_counters = true;
    TellOne(link);
  }
  if (fd != -1) close(fd);
}

void ArenaGifts::OnHits(Reader* reader, int fd) {
  if (fd == -1 || reader->hits != nullptr) return;
  reader->hits = SharedMemory::Map(fd, limits::kCacheHitsBytes);
  if (reader->hits != nullptr) cache_->AddHits(reader->hits);
}

void ArenaGifts::OnAsk(Reader* reader, const peer::Frame& frame) {
  peer::CacheAsk ask;
  reader->is_asking = true;
  if (!peer::Decode(frame.payload, &ask) || reader->scopes.size() >= limits::kEntriesMax) return;
  // If the reader asks for the scope again, send it again.
  reader->scopes[ForeignScope::Key(ask.server_id, ask.prefix_id)].clear();
}

void ArenaGifts::OnLinkGone(uint64_t link) {
  const auto found = readers_.find(link);
  if (found == readers_.end()) return;
  if (found->second.hits != nullptr) cache_->RemoveHits(found->second.hits);
  readers_.erase(found);
}

void ArenaGifts::OnServer(uint32_t server_id) {
  if (readers_.empty() || is_closed_) return;
  bool is_behind = false;
  for (auto& [link, reader] : readers_) {
    for (auto scope = reader.scopes.lower_bound(ForeignScope::Key(server_id, 0));
         scope != reader.scopes.end() && scope->first >> 32 == server_id; ++scope) {
      if (!TellScope(link, scope->first, &scope->second)) is_behind = true;
    }
  }
  if (is_behind) ArmTimer();
}

// -- Telling.

bool ArenaGifts::TellScope(uint64_t link, uint64_t key, std::string* told) {
  const auto server_id = static_cast<uint32_t>(key >> 32);
  const auto prefix_id = static_cast<uint32_t>(key);
  peer::CacheScope scope{server_id, prefix_id, 0, 0, {}, {}};
  const auto server = servers_->find(server_id);
  if (server != servers_->end() && !server->second->is_unlistened) {
    scope = ScopeOf(*server->second->config, server_id, prefix_id);
  }
  // A prefix with several owners gets scope 0: readers cannot notice another owner's invalidations.
  if (cache_->co_owners().IsShared(scope.scope)) scope.scope = 0;
  // With scope 0, send no other fact of the prefix.
  if (scope.scope == 0) scope = {server_id, prefix_id, 0, 0, {}, {}};
  std::string payload = peer::Encode(scope);
  if (payload == *told) return true;
  if (!links_->SendToReader(link, FrameType::kCacheScope, payload, -1)) {
    told->clear();
    return false;
  }
  *told = std::move(payload);
  return true;
}

bool ArenaGifts::Tell(uint64_t link, const ProcessCache::Memory& memory, Reader* reader) {
  if (reader->wants_counters && !TellCounters(link, reader)) return false;
  const bool is_shared = reader->is_asking && memory.index != nullptr && memory.index->fd() != -1;
  if (is_shared && reader->index != memory.index) {
    if (!links_->SendToReader(link, FrameType::kCacheIndex, {}, memory.index->fd())) return false;
    reader->index = memory.index;
    reader->serials.assign(memory.chunks.size(), 0);
  }
  for (uint32_t i = 0; is_shared && i < memory.chunks.size(); ++i) {
    const auto& [chunk, serial] = memory.chunks[i];
    uint64_t& told = reader->serials[i];
    if (chunk == nullptr && told != 0) {
      const std::string payload = peer::Encode(peer::CacheGone{i});
      if (!links_->SendToReader(link, FrameType::kCacheGone, payload, -1)) return false;
      told = 0;
    } else if (chunk != nullptr && told != serial && chunk->fd() != -1) {
      const std::string payload = peer::Encode(peer::CacheChunk{i, serial});
      if (!links_->SendToReader(link, FrameType::kCacheChunk, payload, chunk->fd())) return false;
      told = serial;
    }
  }
  for (auto& [key, told] : reader->scopes) {
    if (told.empty() && !TellScope(link, key, &told)) return false;
  }
  return true;
}

// Sends changed scopes: a scope becomes 0 when its prefix gets another owner, and gets its number
// back when that owner has left.
bool ArenaGifts::TellScopes(uint64_t link, Reader* reader) {
  bool is_told = true;
  for (auto& [key, told] : reader->scopes) is_told = TellScope(link, key, &told) && is_told;
  return is_told;
}

// Sends the counters of invalidations, unless they cannot be shared: then the reader uses no entry
// of prefixes that it owns together with this process.
bool ArenaGifts::TellCounters(uint64_t link, Reader* reader) {
  const std::shared_ptr<const SharedMemory> counters = cache_->co_owners().Share();
  if (counters == nullptr || counters->fd() == -1) return true;
  if (!links_->SendToReader(link, FrameType::kCacheCounters, {}, counters->fd())) return false;
  reader->wants_counters = false;
  return true;
}

void ArenaGifts::TellOne(uint64_t link) {
  if (!Tell(link, cache_->Share(), &readers_[link])) ArmTimer();
}

void ArenaGifts::TellAll() {
  if (is_closed_ || readers_.empty()) return;
  const ProcessCache::Memory memory = cache_->Share();
  const uint64_t owners_version = cache_->co_owners().version();
  const bool has_new_owners = std::exchange(owners_version_, owners_version) != owners_version;
  bool is_behind = false;
  for (auto& [link, reader] : readers_) {
    if (has_new_owners && !TellScopes(link, &reader)) is_behind = true;
    if (!Tell(link, memory, &reader)) is_behind = true;
  }
  if (is_behind) ArmTimer();
}

void ArenaGifts::ArmTimer() {
  if (is_closed_ || uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<ArenaGifts*>(timer->data)->TellAll(); },
      limits::kCacheTellMs, 0);
}

}  // namespace httpsys::engine
