#pragma once
// Differences between systems in calls on files.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace httpsys::files {

// What a file is.
struct FileFacts {
  bool is_regular = false;
  bool is_in_memory = false;  // The bytes are always in memory (tmpfs). Set by LookAtFile() only.
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  // Also by a change of what only its owner may change, such as its mode.

  // True if nothing was done to the file between the two.
  bool IsSame(const FileFacts& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modified_ns == other.modified_ns && changed_ns == other.changed_ns;
  }
};

// Waits for no server of a network file system: sizes and times may be older than theirs. Returns 0
// or a positive errno.
int LookAtFile(int fd, FileFacts* facts);
// Follows symbolic links, and may wait. Returns 0 or a positive errno.
int LookAtPath(const std::string& path, FileFacts* facts);
// Reads like pread(2) what is in memory. Returns -1 with errno EAGAIN where reading would wait, and
// EOPNOTSUPP where nothing says whether it would. Fewer bytes than asked for say nothing about the
// end of the file.
ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset);
// Gives bytes of a file to a socket, without a copy in this process where the system can do that.
// Does not block for the socket, and may wait for the file. Returns like send(2); 0 = the file has
// no more bytes.
ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes);

}  // namespace httpsys::files
