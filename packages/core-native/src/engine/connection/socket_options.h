#pragma once
// Options of a connected socket. Failures are ignored: the socket works without them.

#include <cstdint>

#include "records/replies.h"

namespace httpsys::engine {

// Whether a process that has just been given this descriptor for a relay still has enough of them
// for everything else. The system gives the lowest number that is free, so that at least as many
// are in use.
bool LeavesDescriptors(int fd);

// Thread: any.
void SetNoDelay(int fd, bool on);
// The delay of the first probe in seconds; 0 leaves the system's.
void SetKeepAlive(int fd, bool on, uint32_t initial_delay_s);
// What JavaScript wants of a connection's socket.
void SetOption(int fd, const SocketOptionReply& wanted);
void SetCloseOnExec(int fd);
// Readable from so many bytes on, or at the end of the peer's data.
void SetReceiveLowWater(int fd, int bytes);
// No SIGPIPE where send(2) has no flag against it.
void SuppressSigpipe(int fd);

}  // namespace httpsys::engine
