#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "engine/connection/connection.h"

namespace httpsys::engine {

// What follows the bytes of one write.
enum class AfterWrite : uint8_t {
  kUnknown,
  kMore,  // Others, at once: the kernel need not send a packet that is not full.
  kEnd,   // Nothing but the end of the connection.
};

// Writes like sendmsg(2), without blocking, through TLS where the connection has it. Thread: the
// lane.
ssize_t WriteVectors(Connection* connection, iovec* vectors, int count,
                     AfterWrite after = AfterWrite::kUnknown);

}  // namespace httpsys::engine
