#pragma once
// A regular file whose bytes are sent.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/limits.h"
#include "files/file_calls.h"

namespace httpsys::files {

// Whether reads of a file may wait.
enum class ReadWay : uint8_t {
  kMemory,  // All bytes are always in memory (tmpfs).
  kProbed,  // The system can say whether bytes are in memory (RWF_NOWAIT: ext4, XFS, Btrfs).
  kUnsure,  // Any read may wait (overlayfs, network file systems, FUSE; other systems).
};

// Owns the descriptor of a file. A file with a path may give up its descriptor when others need
// one, and opens the path again when it is read. No member moves the file position. Thread: any.
class OpenFile {
 public:
  // Takes the descriptor over, and moves it (base/descriptors.h). `path` names the file; empty =
  // no path. If the descriptor is not that of a regular file, closes it and returns nullptr. Does
  // not wait for the server of a network file system.
  static std::unique_ptr<OpenFile> Take(int fd, std::string path = {});
  // Like Take(), with a duplicate of the descriptor. Returns nullptr and sets errno on failure.
  static std::unique_ptr<OpenFile> Duplicate(int fd);
  // Sets a function that makes other files give up their descriptors. It is called, on any thread,
  // before this file is opened again. Must be called before another thread has the file.
  void set_make_room(std::function<void()> make_room) { make_room_ = std::move(make_room); }
  // Sets a function that opens the file again, instead of opening the path. It must return a
  // descriptor or a negative errno. Must be called before another thread has the file.
  void set_opener(std::function<int()> opener) { opener_ = std::move(opener); }
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  // Facts about the file at the time when it was opened. Reads of files with the same device wait
  // for the same disk or server.
  const FileFacts& facts() const { return facts_; }
  ReadWay way() const { return way_.load(std::memory_order_relaxed); }
  const std::string& path() const { return path_; }

  // Reads like pread(2), and may wait. Fails with ESTALE if the descriptor was given up and the
  // path now names another or a changed file.
  ssize_t Read(void* to, size_t bytes, uint64_t offset) const;
  // Reads like pread(2), but only bytes that are in memory. Returns -1 with errno EAGAIN if a read
  // would or could wait. A short read does not mean the end of the file.
  ssize_t ReadNow(void* to, size_t bytes, uint64_t offset) const;
  // Returns true if reading the bytes does not wait. Checks the first and the last byte only: the
  // bytes between are usually read together with them.
  bool IsInMemory(uint64_t offset, size_t bytes) const;
  // Notes that all bytes are in memory. IsHot() is then true for limits::kFileHotMs, because a file
  // that is sent so often stays in memory. `now_ms` is on any clock that all callers share.
  void SetHot(uint64_t now_ms) const { hot_ms_.store(now_ms, std::memory_order_relaxed); }
  bool IsHot(uint64_t now_ms) const {
    return has_descriptor() &&
           now_ms - hot_ms_.load(std::memory_order_relaxed) < limits::kFileHotMs;
  }
  // Sends bytes to a socket like SendFileBytes(). EAGAIN also if the descriptor was given up.
  ssize_t SendTo(int socket, uint64_t offset, size_t bytes) const;

  // Closes the descriptor if the file has a path and no readers. Returns true if it is closed now.
  bool GiveUp() const;
  // The descriptor's present number, or -1. Only for display: it may be closed at any time.
  int descriptor() const { return fd_.load(std::memory_order_relaxed); }
  bool has_descriptor() const {
    return users_.load(std::memory_order_relaxed) >= 0 && !is_lost_.load(std::memory_order_relaxed);
  }
  // Returns true if other code of the process has closed the descriptor, whose number may belong to
  // another file by now. Afterwards the number is not used, and every read fails with EBADF. Makes
  // a system call, which does not wait for a server.
  bool HasLostDescriptor() const { return Look() == State::kLost; }
  // Returns true if the descriptor still belongs to the file and facts() are still true. Must be
  // called before a file that was kept open is used again. A given-up descriptor counts as
  // unchanged: the file is compared when it is opened again. Costs as much as HasLostDescriptor().
  bool IsUnchanged() const { return Look() == State::kUnchanged; }
  // Returns the descriptor, which will never be given up, or -1 with errno as Read() sets it.
  int Pin() const;

 private:
  // Keeps the descriptor from being given up while the object exists.
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
  mutable std::atomic<uint64_t> hot_ms_ = UINT64_MAX / 2;  // Long before any `now_ms`.
  // Number of reads that use the descriptor; kGivenUp = there is no descriptor.
  mutable std::atomic<int> users_ = 0;
  // True once other code has closed the descriptor.
  mutable std::atomic<bool> is_lost_ = false;
  // Starts as kProbed; changes when the file system refuses a probe.
  mutable std::atomic<ReadWay> way_ = ReadWay::kProbed;
};

// A range of a file's bytes.
struct FilePart {
  std::shared_ptr<const OpenFile> file;
  uint64_t start = 0;  // Offset of the first byte.
  uint64_t bytes = 0;
};

// Parts of files on their way from JavaScript to a lane, by the ids of LentMemory. Thread: any.
class SentParts {
 public:
  void Put(uint32_t id, std::shared_ptr<const FilePart> part);
  // Removes and returns the part with this id; nullptr if the id belongs to no file.
  std::shared_ptr<const FilePart> Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<const FilePart>> parts_;
};

}  // namespace httpsys::files
