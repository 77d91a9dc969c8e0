#pragma once
// Asks the kernel who has bound an abstract Unix name, also when nobody listens under it.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// The uid of the socket that has the name, in this network namespace. Returns false where nobody
// has it or the kernel does not say (Linux before 5.3, without unix_diag, another system).
// Thread: any. Takes time in proportion to the number of Unix sockets of the namespace: some
// microseconds for each.
bool UidOfAbstractName(const std::string& name, uint32_t* uid);

}  // namespace httpsys::sharing
