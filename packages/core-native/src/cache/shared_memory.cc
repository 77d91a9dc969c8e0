#include "cache/shared_memory.h"

namespace httpsys::cache {

SharedMemory::~SharedMemory() { FreeSharedPages(pages_); }

std::shared_ptr<SharedMemory> SharedMemory::Create(size_t bytes) {
  const SharedPages pages = CreateSharedPages(bytes);
  if (pages.memory == nullptr) return nullptr;
  return std::shared_ptr<SharedMemory>(new SharedMemory(pages));
}

std::shared_ptr<const SharedMemory> SharedMemory::Map(int fd, size_t bytes_max) {
  const SharedPages pages = MapSharedPages(fd, bytes_max);
  if (pages.memory == nullptr) return nullptr;
  return std::shared_ptr<const SharedMemory>(new SharedMemory(pages));
}

}  // namespace httpsys::cache
