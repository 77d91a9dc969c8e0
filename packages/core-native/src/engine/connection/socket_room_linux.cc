// Looks at the send buffer of a socket on Linux.

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "engine/connection/socket_room.h"

namespace httpsys::engine {

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
