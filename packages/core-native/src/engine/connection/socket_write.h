#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// What the caller will do after one write.
enum class AfterWrite : uint8_t {
  kUnknown,
  kMore,  // More bytes follow at once: the kernel may wait for them to fill a packet.
  kEnd,   // No more bytes follow, only the end of the connection.
};

// Writes like sendmsg(2), without blocking, through TLS where the connection has it. Thread: the
// lane.
ssize_t WriteVectors(Connection* connection, iovec* vectors, int count,
                     AfterWrite after = AfterWrite::kUnknown);

}  // namespace httpsys::engine
