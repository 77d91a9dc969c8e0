#include "engine/cache/server_caches.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cache/cache_key.h"
#include "cache/coding_policy.h"
#include "cache/refusal.h"
#include "records/records.h"

namespace httpsys::engine {
namespace {

using cache::EntryTerms;

cache::StoreOptions OptionsOf(const CacheSettings& settings) {
  cache::StoreOptions options;
  options.rules = settings.rules == 1 ? cache::RuleSet::kHttpSys : cache::RuleSet::kRfc9111;
  options.default_seconds = settings.duration;
  options.entry_bytes_max = settings.max_entry_bytes;
  options.freshness.allows_heuristics = settings.heuristics;
  options.freshness.ignores_reload = settings.ignore_reload;
  options.codings = cache::CodingsOf(settings.compress);
  options.freshness.stale = {settings.stale_while_revalidate, settings.stale_if_error};
  return options;
}

CacheEntry EntryOf(const cache::KeyParts& key, const cache::EntryHead& entry, bool varies) {
  CacheEntry shown;
  shown.url = CachedUrl(key);
  shown.status = entry.status;
  if (entry.terms.Has(EntryTerms::kByPolicy)) {
    shown.policy = entry.terms.Has(EntryTerms::kNeverExpires)
                       ? uint32_t{records::kCacheUserInvalidates}
                       : uint32_t{records::kCacheTimeToLive};
  }
  shown.created_s = static_cast<uint64_t>(entry.created_s);
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
  const CacheSettings& wanted = settings.cache;
  Names released;
  const bool is_on = wanted.rules != 0 && (server.is_on || prefixes.is_whole);
  server.is_on = is_on;
  if (!is_on || prefixes.is_whole) Clear(&server, server_id, &released);
  if (!is_on) {
    ReleaseAll(released);
    return nullptr;
  }
  if (server.only != wanted.prefixes) {
    server.only = wanted.prefixes;
    const std::map<uint32_t, Prefix> before = server.prefixes;
    for (const auto& [id, prefix] : before) SetPrefix(&server, id, prefix.text, &released);
  }
  SetEverything(&server, server_id, prefixes.is_everything, &released);
  for (const NumberedPrefix& changed : prefixes.changes) {
    SetPrefix(&server, changed.id, changed.text, &released);
  }
  ReleaseAll(released);
  auto terms = std::make_shared<CacheTerms>();
  terms->options = OptionsOf(wanted);
  terms->harmless_fields = wanted.harmless_fields;
  terms->refresh_ms = wanted.refresh_timeout;
  terms->coalesce_ms = wanted.coalesce_timeout;
  terms->tells_reason = wanted.says_why;
  terms->tells_status = terms->tells_reason || wanted.status;
  terms->counters = server.counters;
  terms->scope_of_everything = server.scope_of_everything;
  terms->scopes = server.scopes;
  return terms;
}

void ServerCaches::SetPrefix(Server* server, uint32_t id, const std::string& text,
                             Names* released) {
  Prefix prefix{text, 0};
  const bool has_cache = server->only.empty() || std::find(server->only.begin(), server->only.end(),
                                                           text) != server->only.end();
  if (!text.empty() && has_cache) prefix.scope = cache_->Claim(text);
  const auto before = server->prefixes.find(id);
  if (before != server->prefixes.end()) {
    if (before->second.scope != 0) released->push_back(before->second.text);
    server->scopes.Erase(server->scopes.LowerBound(id));
    server->prefixes.erase(before);
  }
  if (text.empty()) return;
  server->scopes.Insert(server->scopes.LowerBound(id), {id, prefix.scope});
  server->prefixes.emplace(id, std::move(prefix));
}

void ServerCaches::SetEverything(Server* server, uint32_t server_id, bool is_everything,
                                 Names* released) {
  if (is_everything == (server->scope_of_everything != 0)) return;
  if (is_everything) {
    server->scope_of_everything = cache_->Claim(NameOf(server_id));
  } else {
    server->scope_of_everything = 0;
    released->push_back(NameOf(server_id));
  }
}

void ServerCaches::Clear(Server* server, uint32_t server_id, Names* released) {
  for (const auto& [id, prefix] : server->prefixes) {
    if (prefix.scope != 0) released->push_back(prefix.text);
  }
  server->prefixes.clear();
  server->scopes = {};
  if (!server->is_on) SetEverything(server, server_id, false, released);
}

void ServerCaches::ReleaseAll(const Names& names) {
  for (const std::string& name : names) cache_->Release(name);
}

void ServerCaches::Forget(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  Names released;
  found->second.is_on = false;
  Clear(&found->second, server_id, &released);
  ReleaseAll(released);
  servers_.erase(found);
}

void ServerCaches::Close() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, server] : servers_) {
    Names released;
    server.is_on = false;
    Clear(&server, id, &released);
    ReleaseAll(released);
  }
  servers_.clear();
  cache_->SetBytes(this, 0);
}

bool ServerCaches::HasCache(uint32_t server_id) {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(server_id);
  return found != servers_.end() && found->second.is_on;
}

void ServerCaches::SetBytes(uint64_t bytes, uint64_t port_bytes) {
  cache_->SetBytes(this, bytes, port_bytes);
}

void ServerCaches::Visit(uint32_t server_id, const ProcessCache::Visit& visit) {
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  std::vector<uint32_t> scopes = {found->second.scope_of_everything};
  for (const auto& [id, prefix] : found->second.prefixes) scopes.push_back(prefix.scope);
  std::sort(scopes.begin(), scopes.end());
  (void)cache_->DropIf([&](std::string_view key, const cache::EntryHead& entry, uint32_t hits) {
    cache::KeyParts parts;
    return cache::SplitKey(key, &parts) && parts.scope.port != 0 &&
           std::binary_search(scopes.begin(), scopes.end(), parts.scope.port) &&
           visit(key, entry, hits);
  });
}

// After a recursive flush, other owners drop all of a prefix' entries, without checking URLs.
void ServerCaches::TellFlush(uint32_t server_id, const CachedUrlPattern* pattern) {
  if (pattern != nullptr && !pattern->is_recursive)
    return cache_->co_owners().CountTarget(pattern->target);
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  if (found->second.scope_of_everything != 0) cache_->co_owners().CountPrefix({});
  for (const auto& [id, prefix] : found->second.prefixes) {
    const bool is_secure = prefix.text.starts_with("https:");
    if (prefix.scope == 0 || (pattern != nullptr && pattern->is_secure != is_secure)) continue;
    cache_->co_owners().CountPrefix(prefix.text);
  }
}

int64_t ServerCaches::Flush(uint32_t server_id, const std::string& url, bool is_recursive) {
  const std::lock_guard lock(mutex_);
  CachedUrlPattern pattern;
  if (!url.empty() && !pattern.Parse(url)) return -EINVAL;
  pattern.is_recursive = is_recursive;
  size_t flushed = 0;
  cache_->BeginFlush();
  TellFlush(server_id, url.empty() ? nullptr : &pattern);
  Visit(server_id, [&](std::string_view key, const cache::EntryHead& entry, uint32_t) {
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
  Visit(server_id, [&](std::string_view key, const cache::EntryHead& entry, uint32_t hits) {
    cache::KeyParts parts;
    if (entries.size() >= limit || entry.kind != cache::EntryKind::kResponse ||
        !cache::SplitKey(key, &parts) || (!prefix.empty() && !pattern.Matches(parts))) {
      return false;
    }
    entries.push_back(EntryOf(parts, entry, key.find("\n?") != std::string_view::npos));
    entries.back().hits = hits;
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
  for (size_t i = 0; i < kCacheCounterNames.size(); ++i) {
    statistics.figures.push_back(
        {kCacheCounterNames[i], counters.Read(static_cast<CacheCounter>(i))});
  }
  uint64_t entries = 0;
  uint64_t bytes = 0;
  Visit(server_id, [&](std::string_view, const cache::EntryHead& entry, uint32_t) {
    if (entry.kind == cache::EntryKind::kResponse) ++entries;
    bytes += entry.total_bytes();
    return false;
  });
  statistics.figures.push_back({"entries", entries});
  statistics.figures.push_back({"bytes", bytes});
  // These two figures count all servers of the process, which share the memory.
  statistics.figures.push_back({"evicted", cache_->counts().evicted});
  statistics.figures.push_back({"memoryBytes", cache_->memory_bytes()});
  for (size_t i = 1; i < cache::kRefusals; ++i) {
    const uint64_t count = counters.ReadRefusal(i);
    if (count == 0) continue;
    statistics.refused.push_back({std::string(cache::kRefusalNames[i]), count});
  }
  return statistics;
}

}  // namespace httpsys::engine
