#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/arena_reader.h"
#include "cache/hit_table.h"
#include "engine/shared_cache/foreign_arenas.h"

namespace httpsys::engine {

// One lane's readers of other members' arenas. Locks only after changes. Thread: the lane.
class ArenaReaders {
 public:
  struct Reader {
    std::shared_ptr<const ForeignArena> arena;
    std::unique_ptr<cache::ArenaReader> reader;  // nullptr = the arena has no entries.
    std::optional<cache::HitTable> hits;
    uint64_t memory_version = 0;
  };

  explicit ArenaReaders(const ForeignArenas* arenas) : arenas_(arenas) {}
  ArenaReaders(const ArenaReaders&) = delete;
  ArenaReaders& operator=(const ArenaReaders&) = delete;

  // Returns the reader of a member's arena until the next call; nullptr = unknown member.
  Reader* Find(uint64_t member) {
    Refresh();
    const auto found = readers_.find(member);
    return found == readers_.end() ? nullptr : &found->second;
  }
  // Returns the readers of arenas whose process was killed, the last killed one first.
  const std::vector<Reader*>& Orphaned() {
    Refresh();
    return orphaned_;
  }
  bool has_orphaned() {
    Refresh();
    return !orphaned_.empty();
  }

 private:
  void Refresh() {
    if (version_ != arenas_->version()) RefreshAll();
  }
  void RefreshAll();
  static void Open(Reader* reader);

  const ForeignArenas* arenas_;
  uint64_t version_ = 0;
  std::unordered_map<uint64_t, Reader> readers_;  // By member.
  std::vector<Reader*> orphaned_;
};

}  // namespace httpsys::engine
