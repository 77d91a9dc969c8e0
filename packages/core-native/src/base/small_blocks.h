#pragma once
// Memory for the six blocks that come and go with every stream of HTTP/2: malloc(3) is fast only
// while it has a handful of free blocks of each size. Each thread keeps the blocks that it frees,
// up to limits::kSmallBlocksKeptBytes.

#include <cstddef>

#include "base/check.h"

namespace httpsys {

// Thread: any. A block may be freed on another thread.
class SmallBlocks {
 public:
  // Larger blocks come from malloc(3).
  static constexpr size_t kBytesMax = 1024;

  // Returns nullptr if out of memory. Aligned as by malloc(3).
  static void* Allocate(size_t bytes);
  // `bytes` must be the number that was asked for.
  static void Free(void* block, size_t bytes);
  // The bytes that this thread keeps.
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
