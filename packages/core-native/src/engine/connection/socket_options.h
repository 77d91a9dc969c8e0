#pragma once
// Options of connected sockets. Failures are ignored: the socket works without the option. Thread:
// any.

#include <cstdint>

#include "records/replies.h"

namespace httpsys::engine {

// Returns the first of the descriptors that are spared (limits::kDescriptorsSparedPart). The system
// assigns the lowest free number: a process that gets this one has few descriptors left.
int FirstSparedDescriptor();
// Returns whether the process has enough descriptors left for other things after it got `fd` for a
// relay.
bool LeavesDescriptors(int fd);

void SetNoDelay(int fd, bool on);
// Turns keep-alive probes on or off. `initial_delay_s` is the delay of the first probe in seconds;
// 0 keeps the system's default.
void SetKeepAlive(int fd, bool on, uint32_t initial_delay_s);
// Sets the option that a kSocketOption record of JavaScript names.
void SetOption(int fd, const SocketOptionReply& wanted);
void SetCloseOnExec(int fd);
// Makes the socket readable only when `bytes` are there, or the peer has ended its direction.
void SetReceiveLowWater(int fd, int bytes);
// Marks a client's connection whose hand-over to another process is taken back. All processes that
// have the socket can see the mark, also when this one has died.
void MarkTakenBack(int fd);
// Must be called before a connection is handed over. If it was taken back from an earlier receiver,
// the mark names the new hand-over from here on. The number of a hand-over must differ from those
// of earlier hand-overs of the connection.
void MarkHandedOver(int fd, uint64_t number);
// Returns true if this hand-over was taken back.
bool WasTakenBack(int fd, uint64_t number);
// Prevents SIGPIPE on systems where send(2) has no flag against it.
void SuppressSigpipe(int fd);

}  // namespace httpsys::engine
