#include "engine/connection/connected_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/descriptors.h"
#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {
namespace {

void SetInt(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

// -- The mark of a connection that was taken back: the socket's SO_RCVTIMEO in seconds. The timeout
// has no other effect, because no call on the socket blocks.

constexpr time_t kNeverTakenBack = 0;
constexpr time_t kTakenBack = 1;

// Mask for the bits of a hand-over's number that a mark contains: 32-bit systems allow no longer
// timeouts.
constexpr uint64_t kNumberMax = (1 << 20) - 1;

time_t MarkOf(uint64_t number) { return kTakenBack + 1 + static_cast<time_t>(number & kNumberMax); }

void SetMark(int fd, time_t seconds) {
  const timeval mark{seconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &mark, sizeof mark);
}

time_t ReadMark(int fd) {
  timeval mark{};
  socklen_t size = sizeof mark;
  const int result = getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &mark, &size);
  return result == 0 ? mark.tv_sec : kTakenBack;
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

void MarkTakenBack(int fd) { SetMark(fd, kTakenBack); }

// A connection that was never taken back needs no mark: at most one process handles it anyway.
void MarkHandedOver(int fd, uint64_t number) {
  if (ReadMark(fd) != kNeverTakenBack) SetMark(fd, MarkOf(number));
}

bool WasTakenBack(int fd, uint64_t number) {
  const time_t mark = ReadMark(fd);
  return mark != kNeverTakenBack && mark != MarkOf(number);
}

void SuppressSigpipe([[maybe_unused]] int fd) {
#ifdef SO_NOSIGPIPE
  SetInt(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
}

namespace {

#ifdef MSG_MORE
constexpr int kMoreFlag = MSG_MORE;
#else
constexpr int kMoreFlag = 0;
#endif

}  // namespace

ssize_t WriteVectors(Connection* connection, iovec* vectors, int count, AfterWrite after) {
  if (connection->tls != nullptr) {
    return connection->tls->Write(vectors, count, after == AfterWrite::kEnd);
  }
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  const int flags = kSendFlags | MSG_DONTWAIT | (after == AfterWrite::kMore ? kMoreFlag : 0);
  ssize_t sent;
  do {
    sent = count == 1 ? send(connection->fd, vectors->iov_base, vectors->iov_len, flags)
                      : sendmsg(connection->fd, &message, flags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace httpsys::engine
