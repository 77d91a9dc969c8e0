#pragma once
// A pool for the memory of large messages. A lane fills a block, JavaScript has it as a Buffer, and
// when V8 frees that, the lane fills the block again. Fresh memory costs a page fault and zeroing
// for each page, which is more than everything else that is done with the bytes.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/block_store.h"

namespace httpsys {

// Keeps blocks only while blocks have been asked for lately. Outlives its lane, because V8 frees a
// Buffer whenever it likes. Thread: any.
class BlockPool {
 public:
  // Returns a block that Fits() `bytes`, or an empty one if there is none. Its content is what the
  // last owner left.
  Block Take(size_t bytes);
  // Takes a block back, or frees it if there is no room.
  void Put(Block block);
  // Must be called from time to time. Frees what was not needed since the last call, and everything
  // if no block was asked for. Returns false if it need not be called again before the next Take().
  bool Trim();

  // Returns true if memory of `capacity` bytes can hold a message of `bytes` without much waste.
  static bool Fits(size_t bytes, size_t capacity) {
    return capacity >= bytes && capacity - bytes <= bytes / 3;
  }

 private:
  std::mutex mutex_;
  // In the order of Put(): the memory of the last one is most likely cached.
  std::vector<Block> blocks_;
  size_t bytes_ = 0;         // The bytes of all blocks.
  size_t unused_bytes_ = 0;  // The bytes that were unused all the time since the last Trim().
  bool is_wanted_ = false;   // A block was asked for since the last Trim().
  bool is_open_ = false;
};

}  // namespace httpsys
