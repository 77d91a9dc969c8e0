// Reads the number of acknowledged bytes on Linux.

#include <linux/tcp.h>  // Not <netinet/tcp.h>, whose tcp_info has no tcpi_bytes_acked.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

#include "engine/connection/send_rate.h"

namespace httpsys::engine {

bool ReadAcknowledged(int fd, Acknowledged* to) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  if (size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return false;
  *to = {info.tcpi_bytes_acked, info.tcpi_snd_mss};
  return true;
}

}  // namespace httpsys::engine
