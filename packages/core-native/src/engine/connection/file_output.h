#pragma once
// Gives the bytes of files to sockets. A lane never waits for a disk: bytes that are not in memory
// are read by another thread, and the output of the connection is held until then.

#include <sys/types.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "engine/connection/connection.h"
#include "files/open_file.h"
#include "files/read_ahead.h"

namespace httpsys::engine {

// The one writer of UncommonState::FileReading. Thread: the lane.
class FileOutput {
 public:
  // Runs a function on the lane, later. Thread: any.
  using Post = std::function<void(std::function<void()>)>;

  // `on_ready`: the output of the connection or stream may go on. It may close the connection, and
  // others. `ahead` must be closed before this object is destroyed.
  FileOutput(uv_loop_t* loop, files::ReadAhead* ahead, Post post,
             std::function<void(Connection*)> on_ready);
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  // Returns the bytes of a short part that is in memory; nullptr = they have to be sent by the
  // methods below.
  static std::shared_ptr<const char[]> ReadShort(const files::FilePart& part);
  // Returns how many bytes of the part, from `offset` of the file on, can be had without waiting,
  // at most `want`. 0 = the output of the connection is held, and on_ready will be called. Negative
  // = an errno; ENODATA = the file ends before `offset`.
  ssize_t Ready(Connection* connection, const files::FilePart& part, uint64_t offset, size_t want);
  // Reads bytes that are Ready(). Returns like pread(2).
  static ssize_t Read(const Connection& connection, const files::FilePart& part, uint64_t offset,
                      void* to, size_t bytes);
  // Gives bytes that are Ready() to the socket of the connection, through TLS where it has it.
  // Returns like send(2); 0 = the file ends before `offset`.
  ssize_t Send(Connection* connection, const files::FilePart& part, uint64_t offset, size_t bytes);
  // The connection or stream sends no more for now: memory that others need is given up.
  void OnFull(Connection* connection);
  // The connection or stream sends no more of this file.
  void Forget(Connection* connection);
  // Returns true if the output is held, or was since the last call.
  static bool TakeHeld(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    files::WaitPlace place;
    files::ReadAhead::Ticket ticket = 0;
  };

  bool IsInMemory(const files::OpenFile& file, uint64_t offset, size_t bytes);
  void Wait(Connection* connection, const files::FilePart& part, uint64_t offset, size_t want);
  void OnRead(uint64_t wait, const files::ReadAhead::Result& result);
  void DropBlock(Connection* connection);

  uv_loop_t* loop_;
  files::ReadAhead* ahead_;
  const Post post_;
  const std::function<void(Connection*)> on_ready_;
  // The bytes that were found in memory last, so that what is looked at before the head of a
  // response leaves is not looked at again right behind it.
  const files::OpenFile* found_in_ = nullptr;
  uint64_t found_at_ = 0;
  size_t found_bytes_ = 0;
  std::unordered_map<uint64_t, Waiting> waiting_;  // By FileReading::wait.
  uint64_t last_wait_ = 0;
  size_t blocks_ = 0;                   // Connections that have a block.
  std::unique_ptr<uint8_t[]> scratch_;  // limits::kFileSealBytes; made on first use.
};

}  // namespace httpsys::engine
