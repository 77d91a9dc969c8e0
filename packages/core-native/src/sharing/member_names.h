#pragma once
// Members that are reached by their data sockets alone, without a coordinator that knows them.

#include <cstdint>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// Returns the ids of the members of this user, on whichever ports, as far as the system can list
// their names: kMembersMax at most.
std::vector<uint64_t> FindMembers();
// Tells a member that the coordinator of a port does not answer (kDoubt). The member may be gone,
// or may not read it.
void SendDoubt(uint64_t member, uint16_t port);

}  // namespace httpsys::sharing
