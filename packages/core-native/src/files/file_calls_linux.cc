#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "files/file_calls.h"

namespace httpsys::files {

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
