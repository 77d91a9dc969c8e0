#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace httpsys::cache
