#pragma once
// Memory of what comes and goes with every stream of HTTP/2, six blocks: malloc(3) is fast only
// while it has a handful of each size to give. Each thread keeps what it frees, up to
// limits::kSmallBlocksKeptBytes.

#include <cstddef>

#include "base/check.h"

namespace httpsys {

// Thread: any; a block may be freed on another one.
class SmallBlocks {
 public:
  // Larger ones are malloc's.
  static constexpr size_t kBytesMax = 1024;

  // nullptr when out of memory. Aligned as by malloc(3).
  static void* Allocate(size_t bytes);
  // As many bytes as were asked for.
  static void Free(void* block, size_t bytes);
  // Of this thread.
  static size_t KeptBytes();
};

// Base of what is allocated from them.
struct FromSmallBlocks {
  static void* operator new(size_t bytes) {
    void* block = SmallBlocks::Allocate(bytes);
    HTTPSYS_CHECK(block != nullptr);
    return block;
  }
  static void operator delete(void* block, size_t bytes) { SmallBlocks::Free(block, bytes); }
};

}  // namespace httpsys
