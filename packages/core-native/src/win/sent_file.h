#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "win/http_api.h"

namespace httpsys::win {

// A part of a file that HTTP.SYS reads by itself. It has a handle of its own: what becomes of the
// application's descriptor does not matter any more. Thread: any, one at a time.
class SentFile {
 public:
  // `bytes` from `start` on, of a descriptor of Node's. nullptr when it is none.
  static std::unique_ptr<SentFile> Open(int fd, uint64_t start, uint64_t bytes);
  SentFile(const SentFile&) = delete;
  SentFile& operator=(const SentFile&) = delete;
  // The call that has it has completed.
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

// Those on their way to the lane, by the ids of LentMemory. Thread: any.
class SentFiles {
 public:
  void Put(uint32_t id, std::unique_ptr<SentFile> file);
  // nullptr when that is no file.
  std::unique_ptr<SentFile> Take(uint32_t id);

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<SentFile>> files_;
};

}  // namespace httpsys::win
