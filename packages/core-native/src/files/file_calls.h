#pragma once
// File calls that differ between systems.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace httpsys::files {

// Returns true if an open file's bytes are always in memory (tmpfs). Waits for no file system.
bool IsAlwaysInMemory(int fd);
// Reads like pread(2), but only bytes in memory. Returns -1 with errno EAGAIN if reading would
// wait, or EOPNOTSUPP if the system cannot tell. A short read does not mean the end of the file.
ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset);
// Sends bytes of a file to a socket, if possible without a copy in this process. Does not wait for
// the socket, but may wait for the file. Returns like send(2); 0 = the file has no more bytes.
ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes);

}  // namespace httpsys::files
