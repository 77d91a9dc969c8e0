// For systems without sealed memory: the memory of the cache belongs to one process.

#include <cstdint>
#include <cstdlib>

#include "cache/shared_memory.h"

namespace httpsys::cache {

SharedPages CreateSharedPages(size_t bytes) {
  void* const memory = std::calloc(bytes / sizeof(uint64_t), sizeof(uint64_t));
  return memory == nullptr ? SharedPages{} : SharedPages{memory, bytes, -1};
}

SharedPages MapSharedPages(int, size_t) { return {}; }

void FreeSharedPages(const SharedPages& pages) { std::free(pages.memory); }

}  // namespace httpsys::cache
