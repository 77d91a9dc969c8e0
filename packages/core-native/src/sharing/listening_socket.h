#pragma once
// The sockets that members of a port listen on.

#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// The address that a socket is bound to, an IPv6 one in brackets; empty when it has none. A port
// has one listening socket for each.
std::string BoundAddress(int fd);

// Whether a descriptor, which a peer may have sent, is a socket that listens on this TCP port.
bool IsListeningOn(int fd, uint16_t port);

// A socket that listens on every address of a port beside `narrower` ones, of which the kernel
// takes care only when all have SO_REUSEPORT; they have it while this lasts, so that programs of
// other users, and such that do not ask for SO_REUSEPORT, cannot come in. A descriptor, the
// caller's, or a negative errno.
int ListenBeside(uint16_t port, int backlog, const std::vector<int>& narrower);

}  // namespace httpsys::sharing
