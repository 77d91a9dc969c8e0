#pragma once
// A regular file whose bytes are sent.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/limits.h"
#include "files/file_facts.h"

namespace httpsys::files {

// What the system can say about the bytes of a file before they are read.
enum class ReadWay : uint8_t {
  kMemory,  // They are always in memory (tmpfs).
  kProbed,  // Whether they are (RWF_NOWAIT: ext4, XFS, Btrfs).
  kUnsure,  // Nothing: any read may wait (overlayfs, network file systems, FUSE; other systems).
};

// Owns a descriptor. A file with a path may give it up while others need descriptors, and opens it
// again when it is read. Nothing here moves the position of the descriptor. Thread: any.
class OpenFile {
 public:
  // Takes the descriptor over, and moves it (base/own_descriptor.h); `path` names the file, empty =
  // nothing does. Returns nullptr, and closes the descriptor, if that is not one of a regular file.
  // Waits for no server of a network file system.
  static std::unique_ptr<OpenFile> Take(int fd, std::string path = {});
  // The same with a duplicate of the descriptor. Returns nullptr and sets errno if there is none.
  static std::unique_ptr<OpenFile> Duplicate(int fd);
  // Sets what is called before a descriptor that was given up is opened again, so that others can
  // give up theirs. To be set before another thread has the file. Thread of the calls: any.
  void set_make_room(std::function<void()> make_room) { make_room_ = std::move(make_room); }
  // Sets what opens a descriptor that was given up, in place of the path: returns a descriptor or a
  // negative errno. As above.
  void set_opener(std::function<int()> opener) { opener_ = std::move(opener); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  // What the file was when it was opened. Files of one device wait for the same disk or server.
  const FileFacts& facts() const { return facts_; }
  ReadWay way() const { return way_.load(std::memory_order_relaxed); }
  const std::string& path() const { return path_; }

  // Reads like pread(2), and may wait. ESTALE: the descriptor was given up, and another file is
  // there now, or the file has changed.
  ssize_t Read(void* to, size_t bytes, uint64_t offset) const;
  // Reads like pread(2) what is in memory. Returns -1 with errno EAGAIN where a read would, or
  // could, wait; fewer bytes than asked for say nothing about the end of the file.
  ssize_t ReadNow(void* to, size_t bytes, uint64_t offset) const;
  // Returns true if reading the bytes does not wait. Only the first and the last byte are looked
  // at: what lies between was read with them as a rule.
  bool IsInMemory(uint64_t offset, size_t bytes) const;
  // Notes that all bytes are in memory, which is taken for true for limits::kFileHotMs: what is
  // sent so often stays there. `now_ms` is the time of any clock that all callers have.
  void SetHot(uint64_t now_ms) const { hot_ms_.store(now_ms, std::memory_order_relaxed); }
  bool IsHot(uint64_t now_ms) const {
    return has_descriptor() &&
           now_ms - hot_ms_.load(std::memory_order_relaxed) < limits::kFileHotMs;
  }
  // Gives bytes to a socket as SendFileBytes() does. EAGAIN also if the descriptor was given up.
  ssize_t SendTo(int socket, uint64_t offset, size_t bytes) const;

  // Closes the descriptor if the file has a path and is not being read. Returns true if it has none
  // any more.
  bool GiveUp() const;
  // The number of the descriptor at this time, or -1. Only for people to see: nothing keeps it
  // open.
  int descriptor() const { return fd_.load(std::memory_order_relaxed); }
  bool has_descriptor() const {
    return users_.load(std::memory_order_relaxed) >= 0 && !is_lost_.load(std::memory_order_relaxed);
  }
  // Returns true if other code of the process has closed the descriptor, whose number may be that
  // of another file by now. The number is not touched any more from then on, and every read fails
  // with EBADF. Asks the system, and waits for no server.
  bool HasLostDescriptor() const { return Look() == State::kLost; }
  // Returns true if the descriptor is still that of the file, and the facts() are still true.
  // Whoever takes a file that was kept open asks this first. As HasLostDescriptor(). A descriptor
  // that was given up counts as unchanged: the file is compared when it is opened again.
  bool IsUnchanged() const { return Look() == State::kUnchanged; }
  // Returns the descriptor, which is not given up any more, or -1 with errno as Read().
  int Pin() const;

 private:
  // Keeps the descriptor while it exists.
  class Use;
  static constexpr int kGivenUp = -1;
  enum class State : uint8_t { kUnchanged, kChanged, kLost };

  OpenFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  // Compares the descriptor with the facts.
  State Look() const;
  // Closes a descriptor unless other code has done so.
  void CloseIfOwn(int fd) const;
  // Opens the file again. Returns 0 or a positive errno.
  int Reopen() const;

  mutable std::atomic<int> fd_;
  const std::string path_;
  std::function<void()> make_room_;
  std::function<int()> opener_;  // Empty = the path is opened.
  FileFacts facts_;
  mutable std::atomic<uint64_t> hot_ms_ = UINT64_MAX / 2;  // Longer ago than any time.
  // Reads that use the descriptor, or kGivenUp.
  mutable std::atomic<int> users_ = 0;
  // The number of the descriptor is somebody else's, or nobody's.
  mutable std::atomic<bool> is_lost_ = false;
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
