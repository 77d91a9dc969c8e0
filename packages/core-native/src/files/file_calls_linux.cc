#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
// musl has no struct statx before 1.2.5; where <sys/stat.h> has it, this header must not have it
// again.
#ifndef STATX_TYPE
#include <linux/stat.h>
#endif

#include <cerrno>

#include "files/file_calls.h"

// musl has functions for statx(2) and preadv2(2) only from 1.2.5 on.
namespace httpsys::files {

namespace {

int Look(int fd, const char* path, int flags, FileFacts* facts) {
  struct statx found;
  constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME;
  if (syscall(SYS_statx, fd, path, flags, kWanted, &found) != 0) return errno;
  const auto time = [](const statx_timestamp& at) {
    return at.tv_sec * 1'000'000'000 + at.tv_nsec;
  };
  facts->is_regular = S_ISREG(found.stx_mode);
  facts->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  facts->inode = found.stx_ino;
  facts->size = found.stx_size;
  facts->modified_ns = time(found.stx_mtime);
  facts->changed_ns = time(found.stx_ctime);
  return 0;
}

}  // namespace

int LookAtFile(int fd, FileFacts* facts) {
  const int error = Look(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, facts);
  // Only files of tmpfs have seals, so that this question, which no file system sees, names them.
  facts->is_in_memory = error == 0 && fcntl(fd, F_GET_SEALS) >= 0;
  return error;
}

int LookAtPath(const std::string& path, FileFacts* facts) {
  return Look(AT_FDCWD, path.c_str(), 0, facts);
}

ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset) {
  iovec vector{to, bytes};
  ssize_t got;
  do {
    got = syscall(SYS_preadv2, fd, &vector, 1, static_cast<off_t>(offset), 0, RWF_NOWAIT);
  } while (got < 0 && errno == EINTR);
  // ENOSYS and EPERM come from what filters system calls.
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
