#pragma once
// The place of the names under which the members of a shared port find each other.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// Thread: any.

// Chooses the directory of all names of this process: an absolute path, or "" for the default. The
// first call decides. Returns 0, or a negative errno: -EALREADY if another directory was chosen
// before; -ENAMETOOLONG if sockets cannot have names that long; -ENOSYS if the network namespace,
// which is part of the names in the directory, cannot be determined.
int UseRuntimeDirectory(const std::string& path);
// Returns a name of the meeting place of a TCP port, one for each rank below kRanksMax: an absolute
// path, or an abstract name, which does not begin with a slash.
std::string PortName(uint16_t port, uint32_t rank = 0);

}  // namespace httpsys::sharing
