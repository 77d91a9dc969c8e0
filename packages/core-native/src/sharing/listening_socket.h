#pragma once
// The listening sockets of the members of a port.

#include <cstdint>
#include <string>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// Returns the address that a socket is bound to, an IPv6 address in brackets; empty if it has none.
// A port has one listening socket for each address.
std::string BoundAddress(int fd);

// Returns true if a descriptor, perhaps from a peer, is a socket that listens on this TCP port.
bool IsListeningOn(int fd, uint16_t port);

// Opens a socket that listens on every address of a port beside the `narrower` ones. The kernel
// allows that only if all have SO_REUSEPORT. They have it only during the call, so that programs of
// other users, and programs that do not ask for SO_REUSEPORT, cannot bind the port, too. Returns a
// descriptor, which the caller owns, or a negative errno.
int ListenBeside(uint16_t port, int backlog, const std::vector<int>& narrower);

}  // namespace httpsys::sharing
