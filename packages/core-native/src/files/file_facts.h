#pragma once
// The properties of a file that its file system reports.

#include <cstdint>
#include <string>

namespace httpsys::files {

enum class FileKind : uint8_t { kFile, kFolder, kOther };

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

}  // namespace httpsys::files
