#pragma once
// A regular file whose bytes are sent.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace httpsys::files {

// What the system can say about the bytes of a file before they are read.
enum class ReadWay : uint8_t {
  kMemory,  // They are always in memory (tmpfs).
  kProbed,  // Whether they are (RWF_NOWAIT: ext4, XFS, Btrfs).
  kUnsure,  // Nothing: any read may wait (overlayfs, network file systems, FUSE; other systems).
};

// Owns a descriptor. Nothing here moves the position of the descriptor. Thread: any.
class OpenFile {
 public:
  // Takes the descriptor over. Returns nullptr, and closes the descriptor, if that is not one of a
  // regular file. Waits for no server of a network file system.
  static std::unique_ptr<OpenFile> Take(int fd);
  // The same with a duplicate of the descriptor. Returns nullptr and sets errno if there is none.
  static std::unique_ptr<OpenFile> Duplicate(int fd);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  int fd() const { return fd_; }
  // Files of one device wait for the same disk or server.
  uint64_t device() const { return device_; }
  ReadWay way() const { return way_.load(std::memory_order_relaxed); }

  // Reads like pread(2), and may wait.
  ssize_t Read(void* to, size_t bytes, uint64_t offset) const;
  // Reads like pread(2) what is in memory. Returns -1 with errno EAGAIN where a read would, or
  // could, wait; fewer bytes than asked for say nothing about the end of the file.
  ssize_t ReadNow(void* to, size_t bytes, uint64_t offset) const;
  // Returns true if reading the bytes does not wait. Only the first and the last byte are looked
  // at: what lies between was read with them as a rule.
  bool IsInMemory(uint64_t offset, size_t bytes) const;

 private:
  explicit OpenFile(int fd) : fd_(fd) {}

  const int fd_;
  uint64_t device_ = 0;
  // kProbed until the file system refuses a probe.
  mutable std::atomic<ReadWay> way_ = ReadWay::kProbed;
};

// Some of the bytes of a file.
struct FilePart {
  std::shared_ptr<const OpenFile> file;
  uint64_t start = 0;  // The offset of the first one.
  uint64_t bytes = 0;
};

}  // namespace httpsys::files
