#include "engine/cache/server_caches.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cache/cache_key.h"
#include "cache/coding_policy.h"
#include "cache/refusal.h"
#include "engine/cache/cached_url.h"
#include "records/records.h"

namespace httpsys::engine {
namespace {

using cache::EntryTerms;

cache::StoreOptions OptionsOf(const CacheSettings& settings) {
  cache::StoreOptions options;
  options.rules = settings.rules == 1 ? cache::RuleSet::kHttpSys : cache::RuleSet::kRfc9111;
  options.default_seconds = settings.default_s;
  options.entry_bytes_max = settings.entry_bytes_max;
  options.freshness.allows_heuristics = (settings.flags & CacheSettings::kHeuristics) != 0;
  options.freshness.ignores_reload = (settings.flags & CacheSettings::kIgnoresReload) != 0;
  options.codings = cache::CodingsOf(settings.codings);
  options.freshness.stale = {settings.stale_while_revalidate_s, settings.stale_if_error_s};
  return options;
}

CacheEntry EntryOf(const cache::KeyParts& key, const cache::EntryHead& entry, bool varies) {
  CacheEntry shown;
  shown.url = CachedUrl(key);
  shown.status = entry.status;
  if (entry.terms.Has(EntryTerms::kHttpSysRules)) {
    shown.policy = entry.terms.Has(EntryTerms::kNeverExpires)
                       ? uint32_t{records::kCacheUserInvalidates}
                       : uint32_t{records::kCacheTimeToLive};
  }
  shown.created_s = static_cast<double>(entry.created_s);
  shown.seconds = entry.terms.lifetime_s;
  shown.head_bytes = entry.head_bytes;
  shown.body_bytes = entry.body_bytes;
  shown.varies = varies;
  return shown;
}

}  // namespace

std::shared_ptr<const CacheTerms> ServerCaches::Configure(uint32_t server_id,
                                                          const ServerSettings& settings) {
  const std::lock_guard lock(mutex_);
  Server& server = servers_[server_id];
  const ServerPrefixes& prefixes = settings.prefixes;
  if (prefixes.is_whole) server.prefixes.clear();
  for (const NumberedPrefix& changed : prefixes.changes) {
    if (changed.text.empty()) {
      server.prefixes.erase(changed.id);
    } else {
      server.prefixes[changed.id] = changed.text;
    }
  }
  if (settings.cache.rules == 0) {
    ClaimOnly(&server, {});
    return nullptr;
  }
  auto terms = std::make_shared<CacheTerms>();
  terms->options = OptionsOf(settings.cache);
  terms->harmless_fields = settings.cache.harmless_fields;
  terms->tells_reason = (settings.cache.flags & CacheSettings::kTellsReason) != 0;
  terms->tells_status =
      terms->tells_reason || (settings.cache.flags & CacheSettings::kTellsStatus) != 0;
  terms->counters = server.counters;
  const std::vector<std::string>& only = settings.cache.prefixes;
  std::vector<std::string> names;
  const std::string everything = name_ + " " + std::to_string(server_id);
  if (prefixes.is_everything) names.push_back(everything);
  for (const auto& [id, text] : server.prefixes) {
    if (only.empty() || std::find(only.begin(), only.end(), text) != only.end()) {
      names.push_back(text);
    }
  }
  ClaimOnly(&server, names);
  if (prefixes.is_everything) terms->scope_of_everything = server.scopes.at(everything);
  for (const auto& [id, text] : server.prefixes) {
    const auto scope = server.scopes.find(text);
    terms->scopes.emplace_back(id, scope == server.scopes.end() ? 0 : scope->second);
  }
  return terms;
}

void ServerCaches::ClaimOnly(Server* server, const std::vector<std::string>& names) {
  std::map<std::string, uint32_t> scopes;
  for (const std::string& name : names) {
    const auto before = server->scopes.find(name);
    if (before != server->scopes.end()) {
      scopes.insert(*before);
    } else if (!scopes.contains(name)) {
      scopes[name] = cache_->Claim(name);
    }
  }
  for (const auto& [name, number] : server->scopes) {
    if (!scopes.contains(name)) cache_->Release(name);
  }
  server->scopes = std::move(scopes);
}

void ServerCaches::Forget(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  ClaimOnly(&found->second, {});
  servers_.erase(found);
}

void ServerCaches::Close() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, server] : servers_) ClaimOnly(&server, {});
  servers_.clear();
  cache_->SetBytes(this, 0);
}

bool ServerCaches::HasCache(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(server_id);
  return found != servers_.end() && !found->second.scopes.empty();
}

void ServerCaches::SetBytes(uint64_t bytes) { cache_->SetBytes(this, bytes); }

size_t ServerCaches::Visit(uint32_t server_id, const cache::CacheStore::Visit& visit) {
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return 0;
  std::vector<uint32_t> scopes;
  for (const auto& [name, number] : found->second.scopes) scopes.push_back(number);
  std::sort(scopes.begin(), scopes.end());
  return cache_->DropIf([&](std::string_view key, const cache::EntryHead& entry) {
    cache::KeyParts parts;
    return cache::SplitKey(key, &parts) &&
           std::binary_search(scopes.begin(), scopes.end(), parts.scope.port) && visit(key, entry);
  });
}

int64_t ServerCaches::Flush(uint32_t server_id, const std::string& url, bool is_recursive) {
  const std::lock_guard lock(mutex_);
  CachedUrlPattern pattern;
  if (!url.empty() && !pattern.Parse(url)) return -EINVAL;
  pattern.is_recursive = is_recursive;
  size_t flushed = 0;
  cache_->BeginFlush();
  (void)Visit(server_id, [&](std::string_view key, const cache::EntryHead& entry) {
    cache::KeyParts parts;
    if (!url.empty() && (!cache::SplitKey(key, &parts) || !pattern.Matches(parts))) return false;
    if (entry.kind == cache::EntryKind::kResponse) ++flushed;
    return true;
  });
  return static_cast<int64_t>(flushed);
}

std::vector<CacheEntry> ServerCaches::Entries(uint32_t server_id, const std::string& prefix,
                                              uint32_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<CacheEntry> entries;
  CachedUrlPattern pattern;
  if (!prefix.empty() && !pattern.Parse(prefix)) return entries;
  pattern.is_recursive = true;
  (void)Visit(server_id, [&](std::string_view key, const cache::EntryHead& entry) {
    cache::KeyParts parts;
    if (entries.size() >= limit || entry.kind != cache::EntryKind::kResponse ||
        !cache::SplitKey(key, &parts) || (!prefix.empty() && !pattern.Matches(parts))) {
      return false;
    }
    entries.push_back(EntryOf(parts, entry, key.find("\n?") != std::string_view::npos));
    return false;
  });
  return entries;
}

CacheStatistics ServerCaches::Statistics(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  CacheStatistics statistics;
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return statistics;
  const CacheCounters& counters = *found->second.counters;
  constexpr std::pair<CacheCounter, const char*> kNames[] = {
      {CacheCounter::kHits, "hits"},
      {CacheCounter::kMisses, "misses"},
      {CacheCounter::kStale, "stale"},
      {CacheCounter::kRevalidated, "revalidated"},
      {CacheCounter::kCoalesced, "coalesced"},
      {CacheCounter::kReleased, "released"},
      {CacheCounter::kStored, "stored"},
      {CacheCounter::kInvalidated, "invalidated"},
      {CacheCounter::kCompressed, "compressed"},
      {CacheCounter::kChanged, "changedWhileRead"},
  };
  for (const auto& [counter, name] : kNames) {
    statistics.figures.push_back({name, static_cast<double>(counters.Read(counter))});
  }
  uint64_t entries = 0;
  uint64_t bytes = 0;
  (void)Visit(server_id, [&](std::string_view, const cache::EntryHead& entry) {
    if (entry.kind == cache::EntryKind::kResponse) ++entries;
    bytes += entry.total_bytes();
    return false;
  });
  statistics.figures.push_back({"entries", static_cast<double>(entries)});
  statistics.figures.push_back({"bytes", static_cast<double>(bytes)});
  // Of all servers of the process: they share the memory.
  statistics.figures.push_back({"evicted", static_cast<double>(cache_->counts().evicted)});
  statistics.figures.push_back({"memoryBytes", static_cast<double>(cache_->memory_bytes())});
  for (size_t i = 1; i < cache::kRefusals; ++i) {
    const uint64_t count = counters.ReadRefusal(i);
    if (count == 0) continue;
    statistics.refused.push_back(
        {std::string(cache::kRefusalNames[i]), static_cast<double>(count)});
  }
  return statistics;
}

}  // namespace httpsys::engine
