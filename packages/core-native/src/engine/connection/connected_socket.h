#pragma once
// System calls on connected sockets: their options, one write, and what the kernel says of them.
// Failures to set an option are ignored: the socket works without it. Thread: any, unless a
// function says otherwise.

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "records/replies.h"

namespace httpsys::engine {

struct Connection;

// Returns the lowest spared descriptor (limits::kDescriptorsSparedPart). The system assigns the
// lowest free number, so a process that gets this one or a higher one has few descriptors left.
int FirstSparedDescriptor();
// Returns true if `fd`, a new descriptor for a relay, is below the spared ones: the process has
// enough left for other uses.
bool LeavesDescriptors(int fd);

void SetNoDelay(int fd, bool on);
// Turns keep-alive probes on or off. `initial_delay_s` is the delay of the first probe in seconds;
// 0 keeps the system's default.
void SetKeepAlive(int fd, bool on, uint32_t initial_delay_s);
// Sets the option of JavaScript's kSocketOption record.
void SetOption(int fd, const SocketOptionReply& wanted);
void SetCloseOnExec(int fd);
// Makes the socket readable only when `bytes` have arrived, or the client has ended its direction.
void SetReceiveLowWater(int fd, int bytes);
// Marks a client's connection whose hand-over to another process is taken back. All processes that
// have the socket can see the mark, even after this process has ended.
void MarkTakenBack(int fd);
// Must be called before a connection is handed over. If an earlier hand-over of it was taken back,
// the mark names the new hand-over afterwards. The number of a hand-over must differ from those of
// earlier hand-overs of the connection.
void MarkHandedOver(int fd, uint64_t number);
// Returns true if the hand-over with this number was taken back.
bool WasTakenBack(int fd, uint64_t number);
// Prevents SIGPIPE on systems whose send(2) has no flag for that.
void SuppressSigpipe(int fd);

struct Acknowledged {
  uint64_t bytes = 0;          // Bytes that the client has acknowledged since the connection began.
  uint32_t segment_bytes = 0;  // The largest TCP segment that is sent.
};

// Reads the TCP counters of a descriptor. Returns false if it is no TCP connection or the system
// does not provide them.
bool ReadAcknowledged(int fd, Acknowledged* to);
// Returns false if the kernel says that the socket takes fewer than `bytes` now, so that the rest
// would stay in this process. Returns true if the kernel does not say.
bool MayTake(int socket, size_t bytes);

// The next step of the caller after one write.
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
