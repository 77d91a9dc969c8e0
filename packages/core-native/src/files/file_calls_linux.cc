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

int LookAtFile(int fd, FileFacts* facts) {
  struct statx found;
  // AT_STATX_DONT_SYNC: what the kernel knows is enough, because the kind and the device of an open
  // file do not change.
  if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &found) != 0) {
    return errno;
  }
  facts->is_regular = S_ISREG(found.stx_mode);
  facts->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  // Only files of tmpfs have seals, so that this question, which no file system sees, names them.
  facts->is_in_memory = fcntl(fd, F_GET_SEALS) >= 0;
  return 0;
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
