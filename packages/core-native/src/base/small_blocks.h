#pragma once
// A cache of free blocks for the six allocations of every HTTP/2 stream: malloc(3) is fast only
// while it has a few free blocks of each size. Each thread keeps the blocks that it frees, up to
// limits::kSmallBlocksKeptBytes.

#include <cstddef>

#include "base/check.h"

namespace httpsys {

// The calling thread's cache. Blocks may be freed on any thread. Thread: any.
class SmallBlocks {
 public:
  // Largest block that is kept; malloc(3) and free(3) handle larger ones.
  static constexpr size_t kBytesMax = 1024;

  // Returns a block aligned as by malloc(3), or nullptr if out of memory.
  static void* Allocate(size_t bytes);
  // Frees a block. `bytes` must be the number given to Allocate().
  static void Free(void* block, size_t bytes);
  // Returns the bytes of free blocks that this thread keeps.
  static size_t KeptBytes();
};

// Base class of objects that are allocated from small blocks.
struct FromSmallBlocks {
  static void* operator new(size_t bytes) {
    void* block = SmallBlocks::Allocate(bytes);
    HTTPSYS_CHECK(block != nullptr);
    return block;
  }
  static void operator delete(void* block, size_t bytes) { SmallBlocks::Free(block, bytes); }
};

}  // namespace httpsys
