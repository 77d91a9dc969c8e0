#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "win/http_api.h"

namespace httpsys::win {

// A part of a file that HTTP.SYS reads. Has a separate handle, because the application may close
// its descriptor. Thread: any, one at a time.
class SentFile {
 public:
  // Opens a part of a Node descriptor's file; nullptr = the descriptor is not that of a file.
  static std::unique_ptr<SentFile> Open(int fd, uint64_t start, uint64_t bytes);
  SentFile& operator=(SentFile&&) = delete;
  // Must not be called before the call that uses the file has completed.
  ~SentFile();

  uint64_t bytes() const { return bytes_; }
  HTTP_DATA_CHUNK chunk() const;

 private:
  SentFile(HANDLE handle, uint64_t start, uint64_t bytes)
      : handle_(handle), start_(start), bytes_(bytes) {}

  const HANDLE handle_;
  const uint64_t start_;
  const uint64_t bytes_;
};

// Files on their way from JavaScript to the lane, by the ids of LentMemory. Thread: any.
class SentFiles {
 public:
  void Put(uint32_t id, std::unique_ptr<SentFile> file);
  // Removes and returns a file; nullptr if the id belongs to none.
  std::unique_ptr<SentFile> Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<SentFile>> files_;
};

}  // namespace httpsys::win
