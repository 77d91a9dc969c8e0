#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/socket_calls.h"
#include "files/file_calls.h"

namespace httpsys::files {

bool IsAlwaysInMemory(int) { return false; }

// Always fails: this system does not report which bytes are in memory.
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
