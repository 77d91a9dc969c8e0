#pragma once
// Opens Unix sockets, and tells who is at the other end of one.

#include <cstdint>

namespace httpsys {

// Thread: any. Sockets are stream sockets, non-blocking and close-on-exec.

// Opens a socket. Returns a descriptor or a negative errno.
int OpenUnixSocket();
// Opens two sockets that are connected to each other. Returns false if that fails.
bool OpenUnixPair(int* ends);
// Reads whose process is at the other end of a connected socket. `pid` is 0 where the system does
// not tell it. Returns false if the system tells nothing.
bool ReadUnixPeer(int fd, uint32_t* uid, uint32_t* pid);

// The same on systems that cannot give a socket its flags when it is opened. Works on every system.
namespace portable {

int OpenUnixSocket();
bool OpenUnixPair(int* ends);

}  // namespace portable
}  // namespace httpsys
