#pragma once
// Asks the kernel about the send buffer of a socket.

#include <cstddef>

namespace httpsys::engine {

// Returns false if the kernel says that the socket takes fewer than `bytes` now, so that the rest
// would stay in this process. Returns true if the kernel does not say.
bool MayTake(int socket, size_t bytes);

}  // namespace httpsys::engine
