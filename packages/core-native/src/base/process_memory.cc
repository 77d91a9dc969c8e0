#include "base/process_memory.h"

namespace httpsys {

void ReleasePages(std::span<const uint8_t> memory) {
  static const size_t page_bytes = PageBytes();
  if (page_bytes == 0) return;
  const size_t before =
      (page_bytes - reinterpret_cast<uintptr_t>(memory.data()) % page_bytes) % page_bytes;
  if (memory.size() < before + page_bytes) return;
  const size_t bytes = (memory.size() - before) / page_bytes * page_bytes;
  ReleaseWholePages(memory.subspan(before, bytes));
}

}  // namespace httpsys
