#pragma once
// Reads files on threads that may wait for a disk or a server, so that lanes do not.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "files/file_calls.h"
#include "files/open_file.h"

namespace httpsys::files {

// Bytes that were read from a file.
struct FileBlock {
  std::unique_ptr<uint8_t[]> memory;
  uint64_t offset = 0;
  size_t bytes = 0;
};

// Runs tasks on threads that start when there are tasks, and end after limits::kUnusedMs without
// any. Only one thread at a time works on tasks that may wait at the same place, so a server that
// does not answer delays only its own files. Thread: any, unless a member says otherwise.
class ReadAhead {
 public:
  struct Result {
    ssize_t bytes = 0;                       // Or a negative errno; 0 = beyond the file's end.
    std::shared_ptr<const FileBlock> block;  // Set if `keeps` and there are bytes.
  };
  using Done = std::function<void(const Result& result)>;

  // Closes files that are no longer needed. Returns true if it must be called again.
  using Sweep = std::function<bool()>;

  explicit ReadAhead(Sweep sweep = nullptr);
  ReadAhead& operator=(ReadAhead&&) = delete;
  ~ReadAhead() { Close(); }

  using Ticket = uint64_t;

  // Reads at most limits::kFileWindowBytes of a file, and calls `done` on a thread of this object.
  // If `keeps`, the result has the bytes; otherwise they are only read into the kernel's memory.
  // `done` must not wait, and must not use this object.
  Ticket Read(std::shared_ptr<const OpenFile> file, uint64_t offset, size_t bytes, bool keeps,
              Done done);
  // Calls `work` on a thread of this object, and then `done`, as Read() does.
  Ticket Run(WaitPlace place, std::function<void()> work, std::function<void()> done);
  // Removes a task that is no longer needed, unless it has begun. Without that, tasks of clients
  // that have left would pile up behind a device that does not answer.
  void Cancel(WaitPlace place, Ticket ticket);
  static WaitPlace PlaceOf(const OpenFile& file) {
    return {file.facts().device, WaitPlace::Use::kBytes};
  }
  // Calls `sweep` every limits::kUnusedMs, on a thread of this object, until it returns false.
  void SweepLater();
  // Returns a shared file. If closing may take time, the last release closes the file on a thread
  // of this object: the kernel may have to inform a server, or to free the space of a removed file.
  std::shared_ptr<const OpenFile> Share(std::unique_ptr<const OpenFile> file);
  // After Close(), neither `done` nor `sweep` is called. Does not wait for reads. Idempotent.
  void Close();

 private:
  class Pool;

  const std::shared_ptr<Pool> pool_;  // Shared with the threads, because a read may never return.
};

}  // namespace httpsys::files
