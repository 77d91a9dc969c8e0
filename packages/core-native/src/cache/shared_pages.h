#pragma once
// System-dependent functions that make and map memory for SharedMemory.

#include <cstddef>

namespace httpsys::cache {

struct SharedPages {
  void* memory = nullptr;  // nullptr = no memory.
  size_t bytes = 0;
  int fd = -1;  // The descriptor for other processes; -1 = they cannot map the memory.
};

// Thread: any, for all functions of this file.
[[nodiscard]] SharedPages CreateSharedPages(size_t bytes);
// Maps memory that another process has made, as SharedMemory::Map() says.
[[nodiscard]] SharedPages MapSharedPages(int fd, size_t bytes_max);
void FreeSharedPages(const SharedPages& pages);

}  // namespace httpsys::cache
