#pragma once
// What the file system says about a file.

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
  int64_t changed_ns = 0;   // The same of the inode, which nobody can set.

  bool operator==(const FileFacts&) const = default;
  // The file may have changed. Numbers of removed files are used again.
  bool IsSameFile(const FileFacts& other) const {
    return device == other.device && inode == other.inode;
  }
};

// Reads the facts of an open descriptor. Waits for no server of a network file system where the
// system can do that: sizes and times are then those that it has told last, by opening the file for
// instance. Returns 0 or an errno. Thread: any.
[[nodiscard]] int ReadFileFacts(int fd, FileFacts* facts);

// The same of what a path names, behind symbolic links. May wait.
[[nodiscard]] int ReadPathFacts(const std::string& path, FileFacts* facts);

}  // namespace httpsys::files
