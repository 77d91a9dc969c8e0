#pragma once
// Reads files on threads that may wait for a disk or a server, so that lanes do not.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "files/open_file.h"
#include "files/wait_place.h"

namespace httpsys::files {

// Bytes that were read from a file.
struct FileBlock {
  std::unique_ptr<uint8_t[]> memory;
  uint64_t offset = 0;
  size_t bytes = 0;
};

// Runs tasks on threads that start when there are tasks, and end after limits::kUnusedMs without
// any. Only one thread at a time works on tasks that may wait at the same place: a server that does
// not answer holds up its own files only. Thread: any, unless a member says otherwise.
class ReadAhead {
 public:
  struct Result {
    ssize_t bytes = 0;                       // Or a negative errno; 0 = behind the file's end.
    std::shared_ptr<const FileBlock> block;  // Set if `keeps` and there are bytes.
  };
  using Done = std::function<void(const Result& result)>;

  // Closes files that are no longer needed. Returns true if it must be called again.
  using Sweep = std::function<bool()>;

  explicit ReadAhead(Sweep sweep = nullptr);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { Close(); }

  // Number of a task, for Cancel().
  using Ticket = uint64_t;

  // Reads at most limits::kFileWindowBytes of a file, and calls `done` on a thread of this object.
  // `keeps`: the result has the bytes; otherwise they only come into the kernel's memory. `done`
  // must not wait, and must not use this object.
  Ticket Read(std::shared_ptr<const OpenFile> file, uint64_t offset, size_t bytes, bool keeps,
              Done done);
  // Calls `work` on a thread of this object, and then `done`, as Read() does.
  Ticket Run(WaitPlace place, std::function<void()> work, std::function<void()> done);
  // Removes a task that is no longer needed, unless it has begun. Otherwise tasks of clients that
  // have left would pile up behind a device that does not answer.
  void Cancel(WaitPlace place, Ticket ticket);
  // Returns the place at which a read of a file waits.
  static WaitPlace PlaceOf(const OpenFile& file) {
    return {file.facts().device, WaitPlace::Use::kBytes};
  }
  // Calls `sweep` every limits::kUnusedMs from now on, on a thread of this object, until it returns
  // false.
  void SweepLater();
  // Returns a shared file. Its last release closes it on a thread of this object if closing may
  // take time: the kernel may have to inform a server, or to free the space of a removed file.
  std::shared_ptr<const OpenFile> Share(std::unique_ptr<const OpenFile> file);
  // After Close() has returned, neither `done` nor `sweep` is called. Does not wait for reads.
  // Idempotent.
  void Close();

 private:
  class Pool;

  const std::shared_ptr<Pool> pool_;  // Shared with the threads: a read may never return.
};

}  // namespace httpsys::files
