#pragma once
// A pool for the memory of large messages. A lane fills a block and JavaScript gets it as a Buffer;
// when V8 frees the Buffer, the lane fills the block again. Fresh memory would cost a page fault
// and zeroing for each page, more than all other work on the bytes.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/block_store.h"

namespace httpsys {

// Keeps blocks only while blocks are requested from time to time. Outlives its lane, because V8 may
// free a Buffer at any time. Thread: any.
class BlockPool {
 public:
  // Returns a block that Fits() `bytes`, with its old content; an empty one if there is none.
  Block Take(size_t bytes);
  // Takes a block back, or frees it if there is no room.
  void Put(Block block);
  // Must be called from time to time. Frees the blocks that were not needed since the last call, or
  // all if no block was requested. Returns false if no call is needed before the next Take().
  bool Trim();

  // Returns true if memory of `capacity` bytes can hold a message of `bytes` without much waste.
  static bool Fits(size_t bytes, size_t capacity) {
    return capacity >= bytes && capacity - bytes <= bytes / 3;
  }

 private:
  std::mutex mutex_;
  // Kept blocks, oldest first. The memory of the newest is most likely still in a CPU cache.
  std::vector<Block> blocks_;
  size_t bytes_ = 0;         // The bytes of all blocks.
  size_t unused_bytes_ = 0;  // The smallest value of bytes_ since the last Trim().
  bool is_wanted_ = false;   // True if a block was requested since the last Trim().
  bool is_open_ = false;
};

}  // namespace httpsys
