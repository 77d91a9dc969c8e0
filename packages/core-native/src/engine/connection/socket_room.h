#pragma once
// What the kernel says about the memory of a socket.

#include <cstddef>

namespace httpsys::engine {

// Returns false if the socket is known to take fewer than `bytes` at this time: the rest would stay
// in this process. True where the system does not say.
bool MayTake(int socket, size_t bytes);

}  // namespace httpsys::engine
