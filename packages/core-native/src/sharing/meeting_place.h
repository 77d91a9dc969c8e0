#pragma once
// Names under which the members of a shared port find each other, and who is at the other end.
//
// Linux: abstract Unix sockets, which belong to the network namespace as the port does and vanish
// with their process. Elsewhere, and where HTTPSYS_RUNTIME_DIRECTORY is set: sockets in a directory
// of the user's own (named_files.h), which nobody else can take.

#include <cstdint>
#include <string>

#include "sharing/credentials.h"
#include "sharing/runtime_directory.h"

namespace httpsys::sharing {

// A socket that listens under a name.
struct NamedSocket {
  int fd = -1;
  int lock_fd = -1;  // Where names are files.
  std::string name;
};

// Thread: any. Statuses are 0 or a negative errno; descriptors are non-blocking and close-on-exec.

// Where lanes of a member are reached.
std::string MemberName(uint64_t id);
// -EADDRINUSE when another process has the name, -EACCES where its directory is somebody else's.
// The descriptors are the caller's, who gives them back with CloseNamed().
int ListenUnder(const std::string& name, NamedSocket* socket);
// Also removes the files of the name.
void CloseNamed(NamedSocket* socket);
// A connection, or a negative errno; -ECONNREFUSED when nobody listens.
int ConnectTo(const std::string& name);
// Another user has the name or its directory: `stranger` says who, as far as that is known (pid 0
// where nobody listens). Returns false where this user has it, nobody, or the kernel does not say.
bool IsStrangers(const std::string& name, Credentials* stranger);
// Nobody of this user listens under the name of a member: its process has ended.
bool IsGone(uint64_t id);
bool ReadCredentials(int fd, Credentials* credentials);
// A member's id: unguessable, so that no two are the same.
uint64_t RandomId();

}  // namespace httpsys::sharing
