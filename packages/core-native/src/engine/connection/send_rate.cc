#include "engine/connection/send_rate.h"

#include <netinet/in.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/tcp.h>  // The C library's has no tcpi_bytes_acked.
#else
#include <netinet/tcp.h>
#endif

#include <cstddef>

namespace httpsys::engine {

bool ReadAcknowledged(int fd, Acknowledged* to) {
#ifdef __linux__
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  if (size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return false;
  *to = {info.tcpi_bytes_acked, info.tcpi_snd_mss};
  return true;
#elif defined(TCP_CONNECTION_INFO)
  // The count of sent bytes is at most a window ahead of the count of acknowledged ones.
  tcp_connection_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) != 0) return false;
  *to = {info.tcpi_txbytes, info.tcpi_maxseg};
  return true;
#else
  (void)fd;
  (void)to;
  return false;
#endif
}

}  // namespace httpsys::engine
