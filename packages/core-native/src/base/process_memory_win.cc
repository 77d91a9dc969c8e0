// Memory of processes on Windows.

#include "base/process_memory.h"

namespace httpsys {

size_t PageBytes() { return 0; }

void ReleaseWholePages(std::span<const uint8_t> pages) { (void)pages; }

void TrimHeap() {}

void KeepFreed(size_t) {}

}  // namespace httpsys
