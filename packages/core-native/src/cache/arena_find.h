#pragma once
// Finds an entry in an arena that another process, perhaps a hostile one, may write meanwhile. Not
// in ArenaReader, because tests leave out steps of this algorithm, and stop it between them.

#include <atomic>
#include <memory>
#include <span>
#include <string_view>

#include "cache/arena_layout.h"
#include "cache/shared_memory.h"
#include "cache/word_copy.h"

namespace httpsys::cache {

// Private memory for copies of entries; grows to the largest one. Thread: any, one at a time.
class CopyBuffer {
 public:
  // Returns uninitialized memory of at least `bytes`.
  uint8_t* Reserve(size_t bytes) {
    if (bytes > bytes_) {
      memory_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  // If the memory is larger than `bytes_max`, frees it and returns true; returns false otherwise.
  bool Trim(size_t bytes_max) {
    if (bytes_ <= bytes_max) return false;
    memory_.reset();
    bytes_ = 0;
    return true;
  }

 private:
  std::unique_ptr<uint8_t[]> memory_;
  size_t bytes_ = 0;
};

// A reader's mappings of an arena. The owners of the pointers must outlive this object.
struct ArenaView {
  struct Chunk {
    const SharedWord* words = nullptr;  // nullptr: not mapped.
    uint64_t serial = 0;
  };

  ArenaShape shape;               // A private copy, which has been checked.
  const SharedWord* index;        // shape.index_bytes() long.
  std::span<const Chunk> chunks;  // shape.chunks_max of them, each shape.chunk_bytes() long.

  const SharedWord& slot(size_t at) const { return index[shape.slots_at() + at]; }
  const SharedWord& generation(size_t segment) const {
    return index[shape.generations_at() + segment];
  }
  const SharedWord& serial(size_t chunk) const { return index[ArenaShape::kSerialsAt + chunk]; }
};

// An entry, copied into a CopyBuffer; the views point into that buffer.
struct FoundEntry {
  EntryHead entry;
  std::string_view head;
  std::string_view body;
  uint32_t slot_at = 0;  // Position of `slot`, for HitTable.
  Slot slot;
};

enum class FindResult : uint8_t {
  kMiss,
  kHit,
  kChanged,  // The entry went away while it was being copied: a miss.
  kRefused,  // The memory has contents that no writer of ours makes: a miss.
};

// Makes FindEntry() take all of its steps, as ArenaReader needs.
struct EveryStep {
  static constexpr bool kLooksAtSlotAgain = true;
  static constexpr bool kLooksAtGenerationAgain = true;
  // Called after the slot was read and before the generation is. Tests change the arena here.
  void AfterSlot() {}
  // Called when half of the entry is copied, also for tests.
  void WithinCopy() {}
};

// Looks for the entry with this key, whose hash is HashText(key, seed). Reads the memory once and
// without locks, then checks and uses the copy. Never returns a half-written entry, because:
//  * The writer empties the slots of a segment, makes its generation odd, and overwrites it only
//    after that. A reader that has copied a byte written later sees the odd generation, or a later
//    one, behind its fence.
//  * The slot is read again after the generation. Otherwise the generation could be that of the
//    next use of the segment, and would vouch for an entry that is not written yet.
template <typename Steps>
FindResult FindEntry(const ArenaView& view, std::string_view key, uint64_t hash, CopyBuffer* buffer,
                     FoundEntry* found, Steps* steps) {
  const ArenaShape& shape = view.shape;
  const size_t first = (hash & (shape.buckets - 1)) * kWays;
  for (size_t slot_at = first; slot_at < first + kWays; ++slot_at) {
    const Slot slot{view.slot(slot_at).load(std::memory_order_acquire)};
    if (!slot.IsTagged(hash)) continue;
    const uint64_t offset = slot.offset();
    if (offset >= shape.bytes()) return FindResult::kRefused;
    const auto segment = static_cast<size_t>(offset / shape.segment_bytes);
    const size_t chunk = segment / kSegmentsPerChunk;
    const uint64_t room = shape.segment_bytes - offset % shape.segment_bytes;
    steps->AfterSlot();
    const uint64_t generation = view.generation(segment).load(std::memory_order_acquire);
    if (generation % 2 != 0) continue;
    if (Steps::kLooksAtSlotAgain &&
        view.slot(slot_at).load(std::memory_order_acquire) != slot.value) {
      continue;
    }
    // The writer may have replaced the memory of the chunk; the new memory is not mapped yet.
    if (view.chunks[chunk].words == nullptr ||
        view.chunks[chunk].serial != view.serial(chunk).load(std::memory_order_relaxed)) {
      continue;
    }
    if (room < sizeof(EntryHead)) return FindResult::kRefused;
    const SharedWord* from =
        view.chunks[chunk].words + offset % shape.chunk_bytes() / sizeof(uint64_t);
    EntryHead& entry = found->entry;
    LoadWords(from, sizeof entry / sizeof(uint64_t), reinterpret_cast<uint8_t*>(&entry));
    const uint64_t bytes = entry.payload_bytes();
    if (bytes > room - sizeof(EntryHead)) {
      const bool is_same = view.generation(segment).load(std::memory_order_acquire) == generation;
      return is_same ? FindResult::kRefused : FindResult::kChanged;
    }
    if (entry.hash != hash || entry.key_bytes != key.size()) continue;
    uint8_t* const to = buffer->Reserve(static_cast<size_t>(bytes));
    from += sizeof(EntryHead) / sizeof(uint64_t);
    const size_t words = static_cast<size_t>(bytes) / sizeof(uint64_t);
    const size_t half = words / 2;
    LoadWords(from, half, to);
    steps->WithinCopy();
    LoadWords(from + half, words - half, to + half * sizeof(uint64_t));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (Steps::kLooksAtGenerationAgain &&
        view.generation(segment).load(std::memory_order_relaxed) != generation) {
      return FindResult::kChanged;
    }
    const auto* const text = reinterpret_cast<const char*>(to);
    if (std::string_view(text, key.size()) != key) continue;
    const size_t head_at = EntryHead::Padded(entry.key_bytes);
    found->head = {text + head_at, entry.head_bytes};
    found->body = {text + head_at + EntryHead::Padded(entry.head_bytes), entry.body_bytes};
    found->slot_at = static_cast<uint32_t>(slot_at);
    found->slot = slot;
    return FindResult::kHit;
  }
  return FindResult::kMiss;
}

}  // namespace httpsys::cache
