#pragma once
// Asks the kernel who has bound an abstract Unix name, even if nobody listens under it.

#include <cstdint>
#include <string>

namespace httpsys::sharing {

// Reads the uid of the socket that has the name in this network namespace. Returns false if nobody
// has it or the kernel does not tell (Linux before 5.3, without unix_diag, or another system).
// Takes some microseconds for each Unix socket of the namespace. Thread: any.
bool UidOfAbstractName(const std::string& name, uint32_t* uid);

}  // namespace httpsys::sharing
