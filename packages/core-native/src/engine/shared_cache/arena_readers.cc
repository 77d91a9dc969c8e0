#include "engine/shared_cache/arena_readers.h"

#include <algorithm>

namespace httpsys::engine {

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
