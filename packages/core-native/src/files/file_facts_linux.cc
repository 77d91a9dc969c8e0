#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
// musl before 1.2.5 lacks struct statx; the kernel's header must not define it a second time.
#ifndef STATX_TYPE
#include <linux/stat.h>
#endif

#include <algorithm>
#include <cerrno>
#include <limits>

#include "files/file_facts.h"

namespace httpsys::files {
namespace {

// Clamps the time: nanoseconds in 64 bits cannot express all times of files.
int64_t Nanoseconds(const statx_timestamp& time) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  constexpr int64_t kSecondsMax = std::numeric_limits<int64_t>::max() / kNsPerSecond - 1;
  return std::clamp<int64_t>(time.tv_sec, -kSecondsMax, kSecondsMax) * kNsPerSecond + time.tv_nsec;
}

FileKind KindOf(uint16_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  return S_ISDIR(mode) ? FileKind::kFolder : FileKind::kOther;
}

int Read(int fd, const char* path, int flags, FileFacts* facts) {
  struct statx found;
  constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME;
  // A direct system call: musl has a function for it only since 1.2.5.
  if (syscall(SYS_statx, fd, path, flags, kWanted, &found) != 0) return errno;
  *facts = {.kind = KindOf(found.stx_mode),
            .device = makedev(found.stx_dev_major, found.stx_dev_minor),
            .inode = found.stx_ino,
            .size = found.stx_size,
            .modified_ns = Nanoseconds(found.stx_mtime),
            .changed_ns = Nanoseconds(found.stx_ctime)};
  return 0;
}

}  // namespace

int ReadFileFacts(int fd, FileFacts* facts) {
  return Read(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, facts);
}

int ReadPathFacts(const std::string& path, FileFacts* facts) {
  return Read(AT_FDCWD, path.c_str(), 0, facts);
}

}  // namespace httpsys::files
