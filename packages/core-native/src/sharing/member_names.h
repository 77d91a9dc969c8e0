#pragma once
// Finds members by the names of their data sockets, without a coordinator.

#include <cstdint>
#include <vector>

namespace httpsys::sharing {

// Thread: any.

// Returns ids of at most kMembersMax members of this user, on any port, as far as known.
std::vector<uint64_t> FindMembers();
// Sends kDoubt (a port's coordinator does not answer) to a member, which might not get the frame.
void SendDoubt(uint64_t member, uint16_t port);

}  // namespace httpsys::sharing
