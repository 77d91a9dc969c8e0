#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/arena_writer.h"
#include "cache/hit_table.h"

namespace httpsys::cache {

// Remembers keys whose entries left the small log without a second hit: if such a key comes back,
// it is stored in the main log (S3-FIFO). Holds only hashes, in a table in which newer ones
// overwrite older ones, so that a flood of keys costs no memory. Thread: any, one at a time.
class GhostTags {
 public:
  // `cells` must be a power of 2.
  explicit GhostTags(size_t cells) : cells_(cells) {}

  void Add(uint64_t hash) { CellOf(hash) = {TagOf(hash), ++added_}; }

  // Returns true, and forgets the key, if it is among the last `kept` keys that were added.
  bool Take(uint64_t hash, uint32_t kept) {
    Cell& cell = CellOf(hash);
    // If the counter wraps, a very old key may be mistaken for a recent one.
    const bool is_there = cell.tag == TagOf(hash) && cell.at != 0 && added_ - cell.at < kept;
    if (is_there) cell = {};
    return is_there;
  }

 private:
  struct Cell {
    uint32_t tag = 0;
    uint32_t at = 0;  // added_ when the key was added; 0 = empty.
  };

  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  Cell& CellOf(uint64_t hash) { return cells_[hash & (cells_.size() - 1)]; }

  std::vector<Cell> cells_;
  uint32_t added_ = 0;
};

// Lists of the free segments and of the segments of each log, from the oldest to the one that is
// being filled. Thread: any, one at a time.
class SegmentLogs {
 public:
  enum class Log : uint8_t { kSmall, kMain };

  explicit SegmentLogs(size_t segments) : places_(segments, Place::kNone) {}

  // Adds a segment that has just got memory or was emptied.
  void AddFree(uint32_t segment) {
    places_[segment] = Place::kFree;
    free_.push_back(segment);
  }
  // Removes a segment from its list.
  void Remove(uint32_t segment) {
    if (places_[segment] == Place::kFree) std::erase(free_, segment);
    if (places_[segment] == Place::kSmall) std::erase(small_, segment);
    if (places_[segment] == Place::kMain) std::erase(main_, segment);
    places_[segment] = Place::kNone;
  }
  // Makes a free segment the last one of a log, and returns it. There must be a free segment.
  uint32_t Extend(Log log) {
    const uint32_t segment = free_.back();
    free_.pop_back();
    places_[segment] = log == Log::kSmall ? Place::kSmall : Place::kMain;
    (log == Log::kSmall ? small_ : main_).push_back(segment);
    return segment;
  }

  size_t free_count() const { return free_.size(); }
  const std::deque<uint32_t>& Of(Log log) const { return log == Log::kSmall ? small_ : main_; }
  bool IsInMain(uint32_t segment) const { return places_[segment] == Place::kMain; }

 private:
  enum class Place : uint8_t { kNone, kFree, kSmall, kMain };

  std::vector<Place> places_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> small_;
  std::deque<uint32_t> main_;
};

struct StoreCounts {
  uint64_t stored = 0;
  uint64_t evicted = 0;  // Entries that were removed to make room.
  uint64_t copied = 0;   // Entries that were kept when their segment was reused.
  uint64_t entries = 0;  // Entries that can be found now.
};

// The entries of this process: an arena, and the decision which entries stay in it, by S3-FIFO on
// two logs of segments. New entries go to the small log, which has a tenth of the memory. When it
// is full, its oldest segment is emptied: entries that were hit twice are copied to the main log,
// the others are dropped; a dropped key that comes back soon goes to the main log at once. When the
// main log is full, the entries of its oldest segment that were hit are copied behind the others,
// with one hit less. One segment is always free, so that a copy exists before the original goes
// away. Thread: any, one at a time (the mutex of the process), while readers read.
class CacheStore {
 public:
  // Makes a store of up to shape.bytes(), allocated by chunks. Returns nullptr if memory is short.
  [[nodiscard]] static std::unique_ptr<CacheStore> Create(const ArenaShape& shape, uint64_t seed);

  // The memory for readers. version() changes whenever a chunk is added or removed.
  const ArenaWriter& arena() const { return *arena_; }
  uint64_t version() const { return version_; }

  // Hits that the lanes of this process have counted.
  HitTable& own_hits() { return own_hits_; }
  // Lets eviction respect another process' hits. The table must outlive this object, or be removed.
  void AddHits(const HitTable* hits) { other_hits_.push_back(hits); }
  void RemoveHits(const HitTable* hits) { std::erase(other_hits_, hits); }

  // Stores an entry, in place of another one with the same key. Returns false if it is too large
  // for half a segment, or if there is no memory.
  bool Store(const EntryParts& parts);
  [[nodiscard]] std::optional<EntryHead> Look(std::string_view key) const;
  // Removes the entry with this key. Returns false if there is none.
  bool Drop(std::string_view key);
  // Removes an entry by the hash of its key: a variant that VaryRecord::Add() has displaced.
  bool DropHash(uint64_t hash);

  // The hits of an entry, up to HitTable::kCountMax; 0 if there is none.
  uint32_t Hits(uint64_t hash) const;
  // Calls `visit` for each reachable entry, in no particular order, and removes the entries for
  // which it returns true. Returns how many it has removed.
  using Visit = std::function<bool(std::string_view key, const EntryHead& entry)>;
  size_t DropIf(const Visit& visit);
  // State of DropSomeIf(), which does in steps what DropIf() does at once. Entries may come and go
  // between steps: a new entry may be left out, and a moved one may be visited twice.
  struct Walk {
    std::vector<uint64_t> visited;  // By segment: its generation when it was visited, plus 1.
    size_t dropped = 0;
  };
  // Takes one step. Returns false if it was the last one.
  bool DropSomeIf(const Visit& visit, Walk* walk);

  // Sets how many chunks may be used, from 1 to the shape's chunks_max. The entries of further
  // chunks are removed, and their memory is released.
  void SetChunks(uint32_t chunks);
  // Removes all entries, and releases all memory but the index.
  void Clear();

  const StoreCounts& counts() const { return counts_; }
  // Bytes of all chunks, without the index.
  uint64_t memory_bytes() const { return chunks_ * uint64_t{arena_->shape().chunk_bytes()}; }

 private:
  using Log = SegmentLogs::Log;

  explicit CacheStore(std::unique_ptr<ArenaWriter> arena);

  uint32_t SegmentOf(Slot slot) const {
    return static_cast<uint32_t>(slot.offset() / arena_->shape().segment_bytes);
  }
  uint32_t HitsOf(const ArenaWriter::Place& place) const;
  ArenaWriter::Place PlaceFor(uint64_t hash) const;
  void SetEntry(const ArenaWriter::Place& place, Slot slot, uint32_t hits);
  void Forget(const ArenaWriter::Place& place);
  size_t DropOfSegment(uint32_t segment, const Visit& visit);
  std::optional<uint64_t> Append(Log log, uint64_t hash, const EntryParts& parts);
  void Extend(Log log);
  bool AddChunk();
  void RemoveChunk(uint32_t chunk);
  bool FreeSegment(bool keeps_nothing);
  void Empty(Log log, uint32_t segment, bool keeps_nothing);
  bool Keep(uint64_t offset, const ArenaWriter::Place& place, uint64_t hash, uint32_t hits);
  uint64_t SmallBytes() const;

  std::unique_ptr<ArenaWriter> arena_;
  SegmentLogs logs_;
  GhostTags ghosts_;
  std::unique_ptr<HitTable::Cell[]> own_cells_;
  HitTable own_hits_;
  std::vector<const HitTable*> other_hits_;
  std::vector<uint8_t> hits_left_;  // By slot: the hits that the entry had left when it was copied.
  std::string key_;                 // Key of the entry that is being visited.
  StoreCounts counts_;
  uint64_t version_ = 1;
  uint32_t chunks_allowed_;
  uint32_t chunks_ = 0;  // The number of chunks that have memory.
};

}  // namespace httpsys::cache
