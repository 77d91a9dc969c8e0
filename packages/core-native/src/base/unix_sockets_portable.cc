// Unix sockets by calls that every system has.

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/unix_sockets.h"

namespace httpsys::portable {
namespace {

void SetFlags(int fd) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
}

}  // namespace

int OpenUnixSocket() {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd == -1) return -errno;
  SetFlags(fd);
  return fd;
}

bool OpenUnixPair(int* ends) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  SetFlags(ends[0]);
  SetFlags(ends[1]);
  return true;
}

}  // namespace httpsys::portable
