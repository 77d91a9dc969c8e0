#pragma once
// Opens Unix sockets, and identifies the process at the other end of one.

#include <cstdint>

namespace httpsys {

// Thread: any. Sockets are stream sockets, non-blocking and close-on-exec.

// Opens a socket. Returns a descriptor or a negative errno.
int OpenUnixSocket();
// Opens two sockets that are connected to each other. Returns false if that fails.
bool OpenUnixPair(int* ends);
// Reads user and process id of the other end of a connected socket. `pid` is 0 where the system
// does not report it. Returns false if the system reports neither.
bool ReadUnixPeer(int fd, uint32_t* uid, uint32_t* pid);

// Variants for systems that cannot set flags when they open a socket. They work on every system.
namespace portable {

int OpenUnixSocket();
bool OpenUnixPair(int* ends);

}  // namespace portable
}  // namespace httpsys
