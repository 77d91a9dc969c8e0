#pragma once
// Gives the bytes of files to sockets. A lane never waits for a disk: another thread reads bytes
// that are not in memory, and the output of the connection is held meanwhile.

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

  // `on_ready` is called when the output of a connection or stream is no longer held. It may close
  // that connection, and others. `ahead` must be closed before this object is destroyed.
  FileOutput(uv_loop_t* loop, files::ReadAhead* ahead, Post post,
             std::function<void(Connection*)> on_ready);
  FileOutput& operator=(FileOutput&&) = delete;

  // Returns the bytes of a short part that is in memory; nullptr = the caller must use the methods
  // below.
  static std::shared_ptr<const char[]> ReadShort(const files::FilePart& part);
  // Returns how many bytes of the part can be sent without waiting, at most `want`, from `offset`
  // of the file on. 0 = the output of the connection is held until on_ready is called. Negative =
  // an errno; ENODATA = the file ends before `offset`.
  ssize_t Ready(Connection* connection, const files::FilePart& part, uint64_t offset, size_t want);
  // Reads bytes that are Ready(). Returns like pread(2).
  static ssize_t Read(const Connection& connection, const files::FilePart& part, uint64_t offset,
                      void* to, size_t bytes);
  // Gives bytes that are Ready() to the socket of the connection, through TLS if it has a session.
  // Returns like send(2); 0 = the file ends before `offset`.
  ssize_t Send(Connection* connection, const files::FilePart& part, uint64_t offset, size_t bytes);
  // Called when the connection or stream cannot send more for now. Frees its block if other
  // connections need the memory.
  void OnFull(Connection* connection);
  // Called when the connection or stream sends no more of this file. Frees what was read ahead.
  void Forget(Connection* connection);
  // Returns true if the output is held, or has been held since the last call.
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
  // The range of a file that was last found in memory. It is looked up before the head of a
  // response is sent, and sending the body right behind the head needs no second look.
  const files::OpenFile* found_in_ = nullptr;
  uint64_t found_at_ = 0;
  size_t found_bytes_ = 0;
  std::unordered_map<uint64_t, Waiting> waiting_;  // Keyed by FileReading::wait.
  uint64_t last_wait_ = 0;
  size_t blocks_ = 0;  // Number of connections that have a block.
  // A buffer of limits::kFileSealBytes for bytes of a file that TLS seals; made on first use.
  std::unique_ptr<uint8_t[]> scratch_;
};

}  // namespace httpsys::engine
