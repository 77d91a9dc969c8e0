#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cache/arena_layout.h"
#include "cache/shared_memory.h"

namespace httpsys::cache {

// Counts the hits of one reader on the entries of one arena, up to 3 for each. The reader counts in
// its own memory, because it cannot write to another process' arena; the arena's process maps that
// memory. A cell is a byte: six bits identify the counted entry, so the cell need not be cleared
// when its slot gets another entry. One of 64 new entries begins with the count of the entry
// before. A hostile reader can only make entries stay longer or shorter. Thread: any; counts that
// are added at the same time may get lost.
class HitTable {
 public:
  static constexpr uint32_t kCountMax = 3;
  using Cell = std::atomic<uint8_t>;

  // `memory` has `cells` bytes, a power of 2, and must be zeroed. With fewer cells than slots
  // several slots share a cell, and counts get lost.
  HitTable(Cell* memory, size_t cells) : cells_(memory), mask_(cells - 1) {}

  // Makes a table in a SharedMemory, which must outlive it, with as many cells as fit. Only the
  // process that has made the memory may call Note().
  static HitTable Over(const SharedMemory& memory) {
    static_assert(sizeof(Cell) == 1 && Cell::is_always_lock_free);
    const auto* const bytes = reinterpret_cast<const Cell*>(memory.words());
    return {const_cast<Cell*>(bytes), std::bit_floor(memory.bytes())};
  }

  void Note(uint32_t slot_at, Slot slot) {
    Cell& cell = cells_[slot_at & mask_];
    const uint8_t there = cell.load(std::memory_order_relaxed);
    const uint8_t entry = EntryBits(slot);
    const uint32_t count = (there & ~kCountMax) == entry ? there & kCountMax : 0;
    // Do not store if the count is at its maximum.
    if (count < kCountMax) {
      cell.store(static_cast<uint8_t>(entry | (count + 1)), std::memory_order_relaxed);
    }
  }
  uint32_t Count(uint32_t slot_at, Slot slot) const {
    const uint8_t there = cells_[slot_at & mask_].load(std::memory_order_relaxed);
    return (there & ~kCountMax) == EntryBits(slot) ? there & kCountMax : 0;
  }

 private:
  static uint8_t EntryBits(Slot slot) {
    return static_cast<uint8_t>((slot.value * 0x9e3779b97f4a7c15u) >> 56 & ~uint64_t{kCountMax});
  }

  Cell* cells_;
  size_t mask_;
};

}  // namespace httpsys::cache
