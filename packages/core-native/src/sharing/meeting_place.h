#pragma once
// Names under which the members of a shared port find each other, and who is at the other end.
//
// Linux: abstract Unix sockets, which belong to the network namespace as the port does and vanish
// with their process. Elsewhere: sockets in a directory of the user's own, each with a lock file
// that says whether its process still lives.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

struct Credentials {
  uint32_t uid = 0;
  uint32_t pid = 0;
};

// A socket that listens under a name.
struct NamedSocket {
  int fd = -1;
  int lock_fd = -1;  // Where names are files.
};

// Thread: any. Statuses are 0 or a negative errno; descriptors are non-blocking and close-on-exec.

// The place where members of a TCP port meet.
std::string PortName(uint16_t port);
// Where lanes of a member are reached.
std::string MemberName(uint64_t id);
// -EADDRINUSE when another process has the name. The descriptors are the caller's.
int ListenUnder(const std::string& name, NamedSocket* socket);
// A connection, or a negative errno; -ECONNREFUSED when nobody listens.
int ConnectTo(const std::string& name);
// Nobody listens under the name of a member: its process has ended.
bool IsGone(uint64_t id);
bool ReadCredentials(int fd, Credentials* credentials);
// A member's id: unguessable, so that no two are the same.
uint64_t RandomId();

}  // namespace httpsys::sharing
