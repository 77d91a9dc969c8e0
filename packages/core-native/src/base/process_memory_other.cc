// Memory of processes on Unix systems other than Linux.

#include <sys/mman.h>
#include <unistd.h>

#include "base/process_memory.h"

namespace httpsys {

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void ReleaseWholePages(std::span<const uint8_t> pages) {
  (void)madvise(const_cast<uint8_t*>(pages.data()), pages.size(), MADV_FREE);
}

void TrimHeap() {}

void KeepFreed(size_t) {}

}  // namespace httpsys
