// Reads the number of acknowledged bytes on systems other than Linux.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "engine/connection/send_rate.h"

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

}  // namespace httpsys::engine
