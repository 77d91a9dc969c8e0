#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "win/http_api.h"

namespace httpsys::win {

// A part of a file that HTTP.SYS reads by itself. It has its own handle, so that the application
// may close its descriptor. Thread: any, one at a time.
class SentFile {
 public:
  // Opens `bytes` bytes from `start` on of a descriptor of Node. Returns nullptr if it is no file.
  static std::unique_ptr<SentFile> Open(int fd, uint64_t start, uint64_t bytes);
  SentFile(const SentFile&) = delete;
  SentFile& operator=(const SentFile&) = delete;
  // The call that uses the file must have completed.
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

// Files on their way to the lane, by the ids of LentMemory. Thread: any.
class SentFiles {
 public:
  void Put(uint32_t id, std::unique_ptr<SentFile> file);
  // Returns nullptr if the id is not that of a file.
  std::unique_ptr<SentFile> Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<SentFile>> files_;
};

}  // namespace httpsys::win
