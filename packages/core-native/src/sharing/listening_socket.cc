#include "sharing/listening_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>

namespace httpsys::sharing {
namespace {

void SetReusePort(int fd, int on) { setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on); }

int BindWildcard(int fd, uint16_t port, int backlog) {
  const int on = 1;
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -errno;
  return listen(fd, backlog) == 0 ? 0 : -errno;
}

}  // namespace

std::string BoundAddress(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  char name[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    uv_ip4_name(reinterpret_cast<sockaddr_in*>(&address), name, sizeof name);
    return name;
  }
  if (address.ss_family != AF_INET6) return {};
  uv_ip6_name(reinterpret_cast<sockaddr_in6*>(&address), name, sizeof name);
  return '[' + std::string(name) + ']';
}

bool IsListeningOn(int fd, uint16_t port) {
  int is_listening = 0;
  socklen_t size = sizeof is_listening;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || is_listening == 0) {
    return false;
  }
  sockaddr_storage address{};
  size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port) == port;
  }
  return address.ss_family == AF_INET6 &&
         ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port) == port;
}

int ListenBeside(uint16_t port, int backlog, const std::vector<int>& narrower) {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  if (fd == -1) return -errno;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  SetReusePort(fd, 1);
  for (const int other : narrower) SetReusePort(other, 1);
  const int status = BindWildcard(fd, port, backlog);
  SetReusePort(fd, 0);
  for (const int other : narrower) SetReusePort(other, 0);
  if (status == 0) return fd;
  close(fd);
  return status;
}

}  // namespace httpsys::sharing
