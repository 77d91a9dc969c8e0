#include "engine/connection/socket_options.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <limits>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

void SetInt(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

}  // namespace

int FirstSparedDescriptor() {
  constexpr int kNone = std::numeric_limits<int>::max();
  rlimit allowed{};
  if (getrlimit(RLIMIT_NOFILE, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) return kNone;
  const rlim_t spared = std::min<rlim_t>(allowed.rlim_cur / limits::kDescriptorsSparedPart,
                                         limits::kDescriptorsSparedMax);
  return static_cast<int>(std::min<rlim_t>(allowed.rlim_cur - spared, kNone));
}

bool LeavesDescriptors(int fd) { return fd < FirstSparedDescriptor(); }

void SetNoDelay(int fd, bool on) { SetInt(fd, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0); }

void SetKeepAlive(int fd, bool on, uint32_t initial_delay_s) {
  SetInt(fd, SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0);
  if (!on || initial_delay_s == 0) return;
#ifdef TCP_KEEPIDLE
  SetInt(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(initial_delay_s));
#else
  SetInt(fd, IPPROTO_TCP, TCP_KEEPALIVE, static_cast<int>(initial_delay_s));
#endif
}

void SetReceiveLowWater(int fd, int bytes) { SetInt(fd, SOL_SOCKET, SO_RCVLOWAT, bytes); }

void SetOption(int fd, const SocketOptionReply& wanted) {
  if (wanted.option == SocketOptionReply::kNoDelay) SetNoDelay(fd, wanted.is_on);
  if (wanted.option == SocketOptionReply::kKeepAlive) {
    SetKeepAlive(fd, wanted.is_on, wanted.delay_s);
  }
}

void SetCloseOnExec(int fd) {
  const int flags = fcntl(fd, F_GETFD);
  if (flags != -1) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

// The mark is a timeout that no call on the socket heeds, because none of them blocks.
void MarkTakenBack(int fd) {
  const timeval mark{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &mark, sizeof mark);
}

bool WasTakenBack(int fd) {
  timeval mark{};
  socklen_t size = sizeof mark;
  return getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &mark, &size) != 0 || mark.tv_sec != 0;
}

void SuppressSigpipe([[maybe_unused]] int fd) {
#ifdef SO_NOSIGPIPE
  SetInt(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
}

}  // namespace httpsys::engine
