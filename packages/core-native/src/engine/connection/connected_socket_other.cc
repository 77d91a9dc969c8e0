// Facts of the kernel about a socket on systems other than Linux.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "engine/connection/connected_socket.h"

namespace httpsys::engine {

bool ReadAcknowledged([[maybe_unused]] int fd, [[maybe_unused]] Acknowledged* to) {
#ifdef TCP_CONNECTION_INFO
  // macOS counts sent bytes only, which are at most one window ahead of the acknowledged ones.
  tcp_connection_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) != 0) return false;
  *to = {info.tcpi_txbytes, info.tcpi_maxseg};
  return true;
#else
  return false;
#endif
}

// Systems other than Linux do not say how much of a socket's send buffer is free.
bool MayTake(int /*socket*/, size_t /*bytes*/) { return true; }

}  // namespace httpsys::engine
