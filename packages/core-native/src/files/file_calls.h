#pragma once
// File calls that differ between systems.

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace httpsys::files {

enum class FileKind : uint8_t { kFile, kFolder, kOther };

// The properties of a file that its file system reports.
struct FileFacts {
  FileKind kind = FileKind::kOther;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;        // Bytes.
  int64_t modified_ns = 0;  // Nanoseconds since 1970: between the years 1678 and 2262.
  int64_t changed_ns = 0;   // Time of the inode's last change, which no program can set.

  bool operator==(const FileFacts&) const = default;
  // True if the inodes are equal. The file may have changed, or have a removed file's inode.
  bool IsSameFile(const FileFacts& other) const {
    return device == other.device && inode == other.inode;
  }
};

// Reads the facts of an open descriptor. Where the system allows that, does not wait for the server
// of a network file system: sizes and times are then the last ones that the server has sent, for
// instance at opening. Returns 0 or an errno. Thread: any.
[[nodiscard]] int ReadFileFacts(int fd, FileFacts* facts);

// Reads the facts of the file at a path, and follows symbolic links. May wait.
[[nodiscard]] int ReadPathFacts(const std::string& path, FileFacts* facts);

// Returns true if an open file's bytes are always in memory (tmpfs). Waits for no file system.
bool IsAlwaysInMemory(int fd);
// Reads like pread(2), but only bytes in memory. Returns -1 with errno EAGAIN if reading would
// wait, or EOPNOTSUPP if the system cannot tell. A short read does not mean the end of the file.
ssize_t ReadInMemory(int fd, void* to, size_t bytes, uint64_t offset);
// Sends bytes of a file to a socket, if possible without a copy in this process. Does not wait for
// the socket, but may wait for the file. Returns like send(2); 0 = the file has no more bytes.
ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes);

// Identifies the disk or server for which work on files may wait.
// Identifies the system calls that may wait for the same disk or server. Thread: any.
struct WaitPlace {
  enum class Use : uint8_t {
    kBytes,  // Reading bytes.
    // Opening, closing and looking up names. Takes microseconds, so it does not queue behind reads.
    kNames,
    // Names on file systems that are mounted below a folder of the device. All of them share a
    // place, because they are unknown until they have answered.
    kNamesBeyond,
  };

  uint64_t device = 0;  // FileFacts::device; 0 = not known yet (one place for all).
  Use use = Use::kBytes;

  auto operator<=>(const WaitPlace&) const = default;
};

}  // namespace httpsys::files
