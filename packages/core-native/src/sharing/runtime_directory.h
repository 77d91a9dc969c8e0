#pragma once
// Where the names are under which the members of a shared port find each other.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// Thread: any.

// Chooses the directory of all names of this process: an absolute path, "" for the default. The
// first call decides. 0, or a negative errno: -EALREADY when another one was chosen before,
// -ENAMETOOLONG when sockets cannot have names that long, -ENOSYS where the network namespace
// cannot be told, which is part of the names in the directory.
int UseRuntimeDirectory(const std::string& path);
// The place where members of a TCP port meet: an absolute path, or an abstract name, which does not
// begin with a slash.
std::string PortName(uint16_t port);

}  // namespace httpsys::sharing
