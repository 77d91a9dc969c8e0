// Memory of processes on Linux.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "base/process_memory.h"

// Declared weak, because glibc has malloc_trim() and musl does not.
extern "C" __attribute__((weak)) int malloc_trim(size_t) noexcept;

namespace httpsys {

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void ReleaseWholePages(std::span<const uint8_t> pages) {
  (void)madvise(const_cast<uint8_t*>(pages.data()), pages.size(), MADV_DONTNEED);
}

void TrimHeap() {
  if (malloc_trim != nullptr) malloc_trim(0);
}

// glibc raises two thresholds when a mapped piece is freed, unless the program has set them:
// M_MMAP_THRESHOLD to its size and M_TRIM_THRESHOLD to twice that (mallopt(3)). So this function
// allocates and frees such a piece.
void KeepFreed(size_t bytes) {
  if (malloc_trim == nullptr) return;
  // Volatile: compilers remove an allocation that is freed unused.
  void* volatile piece = std::malloc(bytes);
  std::free(piece);
}

}  // namespace httpsys
