// Facts of the kernel about a socket on Linux.

#include <linux/sock_diag.h>
#include <linux/tcp.h>  // tcp_info of <netinet/tcp.h> has no tcpi_bytes_acked.
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/connection/connected_socket.h"

namespace httpsys::engine {

bool ReadAcknowledged(int fd, Acknowledged* to) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  if (size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return false;
  *to = {info.tcpi_bytes_acked, info.tcpi_snd_mss};
  return true;
}

bool MayTake(int socket, size_t bytes) {
  std::array<uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0) return true;
  if (size < (SK_MEMINFO_WMEM_QUEUED + 1) * sizeof(uint32_t)) return true;
  // Twice the bytes: the kernel also counts its own structures, which at worst are as large.
  const uint64_t taken = memory[SK_MEMINFO_WMEM_QUEUED] + uint64_t{2} * bytes;
  return taken <= memory[SK_MEMINFO_SNDBUF];
}

}  // namespace httpsys::engine
