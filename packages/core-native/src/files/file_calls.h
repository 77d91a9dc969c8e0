#pragma once
// Differences between systems in calls on files.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace httpsys::files {

// Returns true if the bytes of an open file are always in memory (tmpfs). Asks no file system.
bool IsAlwaysInMemory(int fd);
// Reads like pread(2) what is in memory. Returns -1 with errno EAGAIN where reading would wait, and
// EOPNOTSUPP where nothing says whether it would. Fewer bytes than asked for say nothing about the
// end of the file.
ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset);
// Gives bytes of a file to a socket, without a copy in this process where the system can do that.
// Does not block for the socket, and may wait for the file. Returns like send(2); 0 = the file has
// no more bytes.
ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes);

}  // namespace httpsys::files
