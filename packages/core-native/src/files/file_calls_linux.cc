#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "files/file_calls.h"

// musl before 1.2.5 lacks struct statx; the kernel's header must not define it a second time.
#ifndef STATX_TYPE
#include <linux/stat.h>
#endif

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

// Only files of tmpfs have seals.
bool IsAlwaysInMemory(int fd) { return fcntl(fd, F_GET_SEALS) >= 0; }

ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset) {
  iovec vector{to, bytes};
  ssize_t got;
  do {
    // A direct system call: musl has a function for it only since 1.2.5.
    got = syscall(SYS_preadv2, fd, &vector, 1, static_cast<off_t>(offset), 0, RWF_NOWAIT);
  } while (got < 0 && errno == EINTR);
  // Filters of system calls cause ENOSYS and EPERM.
  if (got < 0 && (errno == ENOSYS || errno == EPERM)) errno = EOPNOTSUPP;
  return got;
}

ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes) {
  auto at = static_cast<off_t>(offset);
  ssize_t sent;
  do {
    sent = sendfile(socket, file, &at, bytes);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace httpsys::files
