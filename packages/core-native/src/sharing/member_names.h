#pragma once
// Finds members by the names of their data sockets, without a coordinator.

#include <cstdint>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// Returns the ids of at most kMembersMax members of this user, on any port, as far as the system
// can list their names.
std::vector<uint64_t> FindMembers();
// Sends a member kDoubt: the coordinator of a port does not answer. The member may have ended, or
// may not read the frame.
void SendDoubt(uint64_t member, uint16_t port);

}  // namespace httpsys::sharing
