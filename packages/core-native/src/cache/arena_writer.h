#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/arena_layout.h"
#include "cache/shared_memory.h"

namespace httpsys::cache {

// The parts of an entry for Append().
struct EntryParts {
  std::string_view key;
  std::string_view head;
  std::string_view body;
  EntryKind kind = EntryKind::kResponse;
  uint16_t status = 0;
  int64_t created_s = 0;
  EntryTerms terms;

  EntryHead HeadFor(uint64_t hash) const;
};

// Writes the arena of this process: memory, segments, entries and slots. CacheStore decides what is
// stored where. Even if the process is killed within one of these functions, readers find no
// half-written entry. Thread: any, one at a time, while readers read.
class ArenaWriter {
 public:
  // Makes an arena without chunks. `seed` must be a secret that only readers of the arena share.
  // Returns nullptr if there is no memory.
  [[nodiscard]] static std::unique_ptr<ArenaWriter> Create(const ArenaShape& shape, uint64_t seed);

  const ArenaShape& shape() const { return shape_; }
  uint64_t seed() const { return seed_; }
  // Memory for readers: the index, and each chunk with its serial; nullptr = the chunk has none.
  std::shared_ptr<const SharedMemory> index() const { return index_; }
  std::shared_ptr<const SharedMemory> chunk(uint32_t chunk) const { return chunks_[chunk]; }
  uint64_t serial(uint32_t chunk) const;

  // Makes the memory of a chunk, with retired segments. Returns false if memory is short.
  [[nodiscard]] bool AddChunk(uint32_t chunk);
  // Releases a chunk's memory; freed once no reader maps it. Both segments must be retired.
  void RemoveChunk(uint32_t chunk);

  // Opens a retired segment of an existing chunk for new entries.
  void OpenSegment(uint32_t segment);
  // Makes all entries of a segment unreachable, and returns how many were reachable. A reader that
  // is copying such an entry detects the change.
  size_t RetireSegment(uint32_t segment);
  bool is_open(uint32_t segment) const;
  // Bytes of a segment that entries occupy.
  uint32_t used_bytes(uint32_t segment) const { return used_[segment]; }

  // Writes an entry behind the others of an open segment. Readers cannot see it yet. Returns its
  // offset, or nothing if it does not fit.
  [[nodiscard]] std::optional<uint64_t> Append(uint32_t segment, uint64_t hash,
                                               const EntryParts& parts);
  // Copies an entry behind the others of another open segment.
  [[nodiscard]] std::optional<uint64_t> AppendCopy(uint32_t segment, uint64_t offset);

  // The position of a slot, and its contents.
  struct Place {
    uint32_t slot_at = 0;
    Slot slot;  // Empty if no slot was found.
  };
  [[nodiscard]] Place FindSlot(uint64_t hash) const;
  // Returns the slot that names the entry at `offset`, or an empty Place.
  [[nodiscard]] Place FindSlot(uint64_t hash, uint64_t offset) const;
  [[nodiscard]] Place SlotAt(uint64_t hash, uint32_t way) const;

  // Makes an entry visible in the slot at this position, in place of the slot's earlier entry.
  void SetSlot(uint32_t slot_at, Slot slot);
  void ClearSlot(uint32_t slot_at) { SetSlot(slot_at, {}); }

  // Reads the head of the entry at this position of a segment: 0 or the end of another entry.
  // Returns false at the end of the used part, or if a defect has overwritten the memory.
  [[nodiscard]] bool ReadEntry(uint32_t segment, uint32_t position, EntryHead* entry) const;
  // Copies the key of an entry to `key`, which must have room for EntryHead::key_bytes.
  void ReadKey(uint64_t offset, const EntryHead& entry, char* key) const;
  // A number that changes whenever the segment is retired or opened.
  uint64_t segment_generation(uint32_t segment) const {
    return generation(segment).load(std::memory_order_relaxed);
  }
  uint64_t OffsetOf(uint32_t segment, uint32_t position) const {
    return uint64_t{segment} * shape_.segment_bytes + position;
  }

 private:
  ArenaWriter(const ArenaShape& shape, uint64_t seed, std::shared_ptr<SharedMemory> index);
  uint32_t SegmentOf(uint64_t offset) const {
    return static_cast<uint32_t>(offset / shape_.segment_bytes);
  }
  SharedWord* WordsAt(uint64_t offset) const;
  SharedWord& generation(uint32_t segment) const {
    return index_->words()[shape_.generations_at() + segment];
  }
  SharedWord& slot(size_t at) const { return index_->words()[shape_.slots_at() + at]; }
  bool Fits(uint32_t segment, uint64_t bytes) const;

  const ArenaShape shape_;
  const uint64_t seed_;
  std::shared_ptr<SharedMemory> index_;
  std::vector<std::shared_ptr<SharedMemory>> chunks_;
  std::vector<uint32_t> used_;  // Bytes used, by segment.
  uint64_t last_serial_ = 0;
};

}  // namespace httpsys::cache
