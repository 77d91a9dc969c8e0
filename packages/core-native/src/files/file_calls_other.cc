#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/socket_calls.h"
#include "files/file_calls.h"

namespace httpsys::files {

int LookAtFile(int fd, FileFacts* facts) {
  struct stat found;
  if (fstat(fd, &found) != 0) return errno;
  facts->is_regular = S_ISREG(found.st_mode);
  facts->device = static_cast<uint64_t>(found.st_dev);
  return 0;
}

// The system does not say what is in memory.
ssize_t ReadInMemory(int, void*, size_t, uint64_t) {
  errno = EOPNOTSUPP;
  return -1;
}

ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes) {
  char buffer[16 * 1024];
  const ssize_t got =
      pread(file, buffer, std::min(bytes, sizeof buffer), static_cast<off_t>(offset));
  if (got <= 0) return got;
  return send(socket, buffer, static_cast<size_t>(got), kSendFlags | MSG_DONTWAIT);
}

}  // namespace httpsys::files
