// Memory of processes on Linux.

#include <sys/mman.h>
#include <unistd.h>

#include "base/process_memory.h"

// glibc has it, musl has not.
extern "C" __attribute__((weak)) int malloc_trim(size_t) noexcept;

namespace httpsys {

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void ReleaseWholePages(std::span<const uint8_t> pages) {
  (void)madvise(const_cast<uint8_t*>(pages.data()), pages.size(), MADV_DONTNEED);
}

void TrimHeap() {
  if (malloc_trim != nullptr) malloc_trim(0);
}

}  // namespace httpsys
