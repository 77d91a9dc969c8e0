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

// Bytes of a file that were read.
struct FileBlock {
  std::unique_ptr<uint8_t[]> memory;
  uint64_t offset = 0;
  size_t bytes = 0;
};

// Threads are started when there is something to do, and end when there has been nothing for
// limits::kUnusedMs. Tasks that may wait at the same place have one thread at a time, so that a
// server that does not answer stops its own files only. Thread: any, unless a member says
// otherwise.
class ReadAhead {
 public:
  struct Result {
    ssize_t bytes = 0;                       // Or a negative errno; 0 = the file ends before.
    std::shared_ptr<const FileBlock> block;  // Set if it was asked for and there are bytes.
  };
  using Done = std::function<void(const Result& result)>;

  // Closes files that are not needed any more. Returns true if it must be called again.
  using Sweep = std::function<bool()>;

  explicit ReadAhead(Sweep sweep = nullptr);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { Close(); }

  // Names a task that has not begun.
  using Ticket = uint64_t;

  // Reads bytes of a file, at most limits::kFileWindowBytes, and calls `done` on a thread of this.
  // `keeps`: the bytes are wanted; otherwise it is enough that the kernel has them in memory.
  // `done` must not wait, and must not use this object.
  Ticket Read(std::shared_ptr<const OpenFile> file, uint64_t offset, size_t bytes, bool keeps,
              Done done);
  // Calls `work` on a thread of this, and then `done`, as Read().
  Ticket Run(WaitPlace place, std::function<void()> work, std::function<void()> done);
  // Forgets a task, unless it has begun: nobody wants its result any more. A device that does not
  // answer would otherwise collect what clients have asked for that have left.
  void Cancel(WaitPlace place, Ticket ticket);
  // Where a read of a file waits.
  static WaitPlace PlaceOf(const OpenFile& file) {
    return {file.facts().device, WaitPlace::Use::kBytes};
  }
  // Calls `sweep` every limits::kUnusedMs from now on, on a thread of this, until it returns false.
  void SweepLater();
  // Returns a shared file. A thread of this closes it if that may take its time: the kernel may
  // have to tell a server, or to free what nothing names any more.
  std::shared_ptr<const OpenFile> Share(std::unique_ptr<const OpenFile> file);
  // Neither `done` nor `sweep` is called after this returns, which does not wait for reads.
  // Idempotent.
  void Close();

 private:
  class Pool;

  const std::shared_ptr<Pool> pool_;  // Threads have it, too: a read may never return.
};

}  // namespace httpsys::files
