// Shared memory of Linux: memfd_create(2) with seals, since 5.1.

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptors.h"
#include "cache/shared_memory.h"

namespace httpsys::cache {
namespace {

// Linux constants that the headers of an old C library lack.
constexpr unsigned kMemfdCloseOnExec = 0x1;
constexpr unsigned kMemfdAllowSealing = 0x2;
constexpr unsigned kMemfdNoExec = 0x8;
constexpr int kAddSeals = 1033;
constexpr int kGetSeals = 1034;
constexpr int kSealSeal = 0x1;
constexpr int kSealShrink = 0x2;
constexpr int kSealGrow = 0x4;
constexpr int kSealFutureWrite = 0x10;
constexpr int kSeals = kSealShrink | kSealGrow | kSealFutureWrite | kSealSeal;

int OpenMemfd() {
  constexpr unsigned kFlags = kMemfdCloseOnExec | kMemfdAllowSealing;
  // kMemfdNoExec: some systems refuse executable memory. Kernels before 6.3 do not know the flag.
  const long fd = syscall(SYS_memfd_create, "httpsys-cache", kFlags | kMemfdNoExec);
  if (fd >= 0 || errno != EINVAL) return static_cast<int>(fd);
  return static_cast<int>(syscall(SYS_memfd_create, "httpsys-cache", kFlags));
}

}  // namespace

SharedPages CreateSharedPages(size_t bytes) {
  int fd = MoveToOwn(OpenMemfd());
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  // The seals forbid any further writable mapping, also by this process.
  if (memory != MAP_FAILED && fcntl(fd, kAddSeals, kSeals) != 0) {
    munmap(memory, bytes);
    close(fd);
    fd = -1;
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory != MAP_FAILED) return {memory, bytes, fd};
  if (fd >= 0) close(fd);
  return {};
}

SharedPages MapSharedPages(int fd, size_t bytes_max) {
  // Accept sealed memory only, whose length cannot change, and ordinary pages (tmpfs) only: huge
  // pages can run out at an access.
  const int seals = fcntl(fd, kGetSeals);
  struct statfs system {};
  struct stat file {};
  if (seals < 0 || (seals & kSeals) != kSeals || fstatfs(fd, &system) != 0 ||
      system.f_type != TMPFS_MAGIC || fstat(fd, &file) != 0) {
    return {};
  }
  const auto bytes = static_cast<uint64_t>(file.st_size);
  if (bytes < sizeof(uint64_t) || bytes > bytes_max || bytes % sizeof(uint64_t) != 0) return {};
  void* const memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return {};
  return {memory, static_cast<size_t>(bytes), -1};
}

void FreeSharedPages(const SharedPages& pages) {
  munmap(pages.memory, pages.bytes);
  if (pages.fd >= 0) close(pages.fd);
}

}  // namespace httpsys::cache
