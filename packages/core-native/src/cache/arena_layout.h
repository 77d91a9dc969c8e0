#pragma once
// The memory of one process' cache, as its writer and all readers see it: one SharedMemory for the
// index (header, a serial for each chunk, a generation for each segment, slots), and one for each
// chunk (two segments of consecutive entries).
//
// An entry is written once and never changed. One store into a slot makes the entry visible, and
// another one invisible. A segment is reused as a whole: its slots are emptied, its generation
// becomes odd while the segment has no entries, and even before the next ones are appended. A
// reader copies an entry and then looks at the generation again (arena_find.h).

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cache/freshness.h"

namespace httpsys::cache {

// First word of an index. Must change with the layout and with the text of keys: a reader that
// makes keys in another way could find the response to another request.
inline constexpr uint64_t kArenaMagic = 0x3330'6863'6163'7368;  // "hscach03"
// Size of a segment: the size of two of the largest entries. Larger segments would waste less
// space, but their memory would become free later.
inline constexpr uint32_t kSegmentBytes = 2 * 1024 * 1024;
inline constexpr uint32_t kSegmentsPerChunk = 2;
// Bounds for the index of another process. kChunksMax chunks of 4 MiB are 4 GiB.
inline constexpr uint32_t kSegmentBytesMin = 4 * 1024;
inline constexpr uint32_t kSegmentBytesMax = 64 * 1024 * 1024;
inline constexpr uint32_t kChunksMax = 1024;
inline constexpr uint32_t kBucketsMax = 1u << 20;
inline constexpr uint32_t kWays = 8;  // Slots of a bucket.
// Bytes of memory per slot of the index, about the size of a small answer with its head and key.
inline constexpr uint32_t kBytesPerSlot = 512;
// Entries begin at multiples of this many bytes.
inline constexpr size_t kEntryAlignBytes = 16;

// Sizes of an arena, which stand in its index and never change.
struct ArenaShape {
  uint32_t segment_bytes = kSegmentBytes;  // A power of 2.
  uint32_t chunks_max = 1;
  uint32_t buckets = 1;  // A power of 2.

  // Returns the shape for `cache_bytes`, rounded down to whole chunks.
  static ArenaShape For(uint64_t cache_bytes) {
    constexpr uint64_t kChunkBytes = uint64_t{kSegmentBytes} * kSegmentsPerChunk;
    const uint64_t chunks = std::clamp<uint64_t>(cache_bytes / kChunkBytes, 1, kChunksMax);
    const uint64_t buckets = std::bit_ceil(chunks * kChunkBytes / kBytesPerSlot / kWays);
    return {kSegmentBytes, static_cast<uint32_t>(chunks),
            static_cast<uint32_t>(std::min<uint64_t>(buckets, kBucketsMax))};
  }

  // True if all sizes are within the bounds above and each entry's offset fits into a slot.
  bool is_valid() const {
    return std::has_single_bit(segment_bytes) && segment_bytes >= kSegmentBytesMin &&
           segment_bytes <= kSegmentBytesMax && chunks_max >= 1 && chunks_max <= kChunksMax &&
           std::has_single_bit(buckets) && buckets <= kBucketsMax &&
           bytes() / kEntryAlignBytes < UINT32_MAX;
  }
  uint32_t segments() const { return chunks_max * kSegmentsPerChunk; }
  uint32_t slots() const { return buckets * kWays; }
  size_t chunk_bytes() const { return size_t{segment_bytes} * kSegmentsPerChunk; }
  uint64_t bytes() const { return uint64_t{segment_bytes} * segments(); }

  // Positions of the index's parts, in words.
  static constexpr size_t kMagicAt = 0;
  static constexpr size_t kSeedAt = 1;
  static constexpr size_t kSegmentBytesAt = 2;
  static constexpr size_t kChunksAt = 3;
  static constexpr size_t kBucketsAt = 4;
  static constexpr size_t kSerialsAt = 8;
  size_t generations_at() const { return kSerialsAt + chunks_max; }
  // Aligned to 8 words, so that a bucket is one line of the CPU's cache.
  size_t slots_at() const { return (generations_at() + segments() + 7) / 8 * 8; }
  size_t index_bytes() const { return (slots_at() + slots()) * sizeof(uint64_t); }
};

inline constexpr size_t kIndexBytesMax =
    (ArenaShape::kSerialsAt + size_t{kChunksMax} * (1 + kSegmentsPerChunk) + 8 +
     size_t{kBucketsMax} * kWays) *
    sizeof(uint64_t);

// The contents of a slot: the upper half of the key's hash, and the entry's position. 0 = empty.
struct Slot {
  uint64_t value = 0;

  static Slot Of(uint64_t hash, uint64_t offset) {
    return {(hash & 0xffff'ffff'0000'0000u) | (offset / kEntryAlignBytes + 1)};
  }
  bool is_empty() const { return value == 0; }
  bool IsTagged(uint64_t hash) const { return value != 0 && value >> 32 == hash >> 32; }
  // The offset of the entry within all segments. A slot from a hostile writer may give any offset.
  uint64_t offset() const { return ((value & 0xffff'ffffu) - 1) * kEntryAlignBytes; }
};

enum class EntryKind : uint16_t {
  kResponse,
  kVaryRecord,  // The body is an encoded VaryRecord.
  // A response in a content coding, with the terms of the plain response. If the body is empty, the
  // coding does not make the response smaller.
  kCoded,
};

// The beginning of an entry. Key, head and body follow, each padded to whole words.
struct EntryHead {
  uint32_t key_bytes = 0;
  uint32_t head_bytes = 0;
  uint32_t body_bytes = 0;
  uint16_t status = 0;
  EntryKind kind = EntryKind::kResponse;
  uint64_t hash = 0;
  int64_t created_s = 0;  // Seconds since 1970; shown in lists, and not used otherwise.
  EntryTerms terms;

  static constexpr size_t Padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }
  // Bytes of key, head and body with their padding. Cannot overflow.
  uint64_t payload_bytes() const {
    return uint64_t{Padded(key_bytes)} + Padded(head_bytes) + Padded(body_bytes);
  }
  // Bytes of the whole entry, up to the start of the next one.
  uint64_t total_bytes() const {
    return (sizeof(EntryHead) + payload_bytes() + kEntryAlignBytes - 1) & ~(kEntryAlignBytes - 1);
  }
};
static_assert(sizeof(EntryHead) == 72);

}  // namespace httpsys::cache
