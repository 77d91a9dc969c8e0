#include "engine/shared_cache/foreign_arenas.h"

#include <algorithm>

#include "base/limits.h"

namespace httpsys::engine {

void ForeignArenas::SetAskOwner(AskOwner ask) {
  const std::scoped_lock lock(mutex_);
  ask_ = std::move(ask);
}

ForeignArenas::Arenas ForeignArenas::Read() const {
  const std::scoped_lock lock(mutex_);
  return arenas_;
}

void ForeignArenas::SetScope(ForeignScope scope, ForeignArena* arena) {
  const auto at = arena->scopes.LowerBound(scope.key);
  const ForeignScope* const there = arena->scopes.At(at);
  if (there != nullptr && there->key == scope.key) {
    arena->scopes.Edit(at) = std::move(scope);
  } else {
    (void)arena->scopes.Insert(at, std::move(scope));
  }
}

void ForeignArenas::Ask(uint64_t member, uint32_t server_id, uint32_t prefix_id) {
  const std::scoped_lock lock(mutex_);
  if (!ask_) return;
  const auto found = arenas_.find(member);
  if (found == arenas_.end() && arenas_.size() >= limits::kCacheReadersMax) return;
  const uint64_t key = ForeignScope::Key(server_id, prefix_id);
  const bool is_known = found != arenas_.end();
  if (is_known && (found->second->orphaned_ms != 0 || found->second->scopes.Find(key) != nullptr)) {
    return;
  }
  const auto next =
      is_known ? std::make_shared<ForeignArena>(*found->second) : std::make_shared<ForeignArena>();
  ForeignScope asked;
  asked.key = key;
  SetScope(std::move(asked), next.get());
  arenas_[member] = next;
  version_.fetch_add(1, std::memory_order_release);
  ask_(member, server_id, prefix_id);
}

void ForeignArenas::Update(uint64_t member, const std::function<void(ForeignArena*)>& change) {
  const std::scoped_lock lock(mutex_);
  const auto found = arenas_.find(member);
  if (found == arenas_.end()) return;
  const auto next = std::make_shared<ForeignArena>(*found->second);
  change(next.get());
  found->second = next;
  version_.fetch_add(1, std::memory_order_release);
}

void ForeignArenas::Forget(uint64_t member) {
  const std::scoped_lock lock(mutex_);
  if (arenas_.erase(member) != 0) version_.fetch_add(1, std::memory_order_release);
}

void ForeignArenas::ForgetIf(
    const std::function<bool(uint64_t member, const ForeignArena&)>& is_over) {
  const std::scoped_lock lock(mutex_);
  const size_t forgotten =
      std::erase_if(arenas_, [&](const auto& item) { return is_over(item.first, *item.second); });
  if (forgotten != 0) version_.fetch_add(1, std::memory_order_release);
}

void ArenaReaders::RefreshAll() {
  version_ = arenas_->version();
  const ForeignArenas::Arenas arenas = arenas_->Read();
  std::erase_if(readers_, [&](const auto& item) { return !arenas.contains(item.first); });
  orphaned_.clear();
  for (const auto& [member, arena] : arenas) {
    Reader& reader = readers_[member];
    const bool is_same = reader.arena != nullptr && reader.memory_version == arena->memory_version;
    reader.arena = arena;
    if (!is_same) Open(&reader);
    if (arena->orphaned_ms != 0) orphaned_.push_back(&reader);
  }
  std::sort(orphaned_.begin(), orphaned_.end(), [](const Reader* one, const Reader* other) {
    return one->arena->orphaned_ms > other->arena->orphaned_ms;
  });
}

void ArenaReaders::Open(Reader* reader) {
  const ForeignArena& arena = *reader->arena;
  reader->memory_version = arena.memory_version;
  reader->hits.reset();
  if (arena.hits != nullptr) reader->hits = cache::HitTable::Over(*arena.hits);
  reader->reader = arena.index == nullptr ? nullptr : cache::ArenaReader::Open(arena.index);
  if (reader->reader == nullptr) return;
  for (uint32_t i = 0; i < arena.chunks.size(); ++i) {
    const auto& [memory, serial] = arena.chunks[i];
    if (memory != nullptr) (void)reader->reader->SetChunk(i, serial, memory);
  }
}

}  // namespace httpsys::engine
