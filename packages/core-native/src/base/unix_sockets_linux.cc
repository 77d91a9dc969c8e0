// Unix sockets of Linux: opened with all flags in one call, and with credentials of the other end.

#include <sys/socket.h>

#include <cerrno>

#include "base/unix_sockets.h"

namespace httpsys {
namespace {

constexpr int kUnixSocketType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

}  // namespace

int OpenUnixSocket() {
  const int fd = socket(AF_UNIX, kUnixSocketType, 0);
  return fd == -1 ? -errno : fd;
}

bool OpenUnixPair(int* ends) { return socketpair(AF_UNIX, kUnixSocketType, 0, ends) == 0; }

bool ReadUnixPeer(int fd, uint32_t* uid, uint32_t* pid) {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return false;
  *uid = found.uid;
  *pid = static_cast<uint32_t>(found.pid);
  return true;
}

}  // namespace httpsys
