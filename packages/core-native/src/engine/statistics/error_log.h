#pragma once
// The log of requests that were refused before JavaScript: docs/error-log.md. One file a process,
// which several processes may share: each line is one write to its end.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/statistics/log_record.h"
#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// HTTP.SYS's phrases.
std::string_view ReasonFor(records::ErrorKind kind, bool is_in_body);
std::string_view ReasonFor(RouteStatus status);
int StatusFor(records::ErrorKind kind);
int StatusFor(RouteStatus status);

// Thread: any.
class ErrorLog {
 public:
  // The process' own: HTTPSYS_ERROR_LOG names its file, without it nothing is written.
  static ErrorLog& Instance();

  explicit ErrorLog(const char* path);
  ~ErrorLog();
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  bool is_on() const { return fd_ != -1; }
  // Why the file could not be opened, a positive errno; 0 = it was, or that has been asked before.
  int TakeFailure() { return failure_.exchange(0, std::memory_order_relaxed); }
  const std::string& path() const { return path_; }
  // False: the line was left out, because this second has had limits::kLogLinesPerSecond. Then
  // WriteDropped() is due in the next one.
  bool Write(const LogRecord& entry);
  // Says how many lines were left out; within the same second only if `is_last`. False: not yet.
  bool WriteDropped(bool is_last);

 private:
  bool TakeTurn(uint64_t second, uint64_t* dropped);
  void SayDropped(uint64_t dropped);

  const std::string path_;
  int fd_ = -1;
  std::atomic<int> failure_ = 0;
  std::mutex mutex_;
  uint64_t second_ = 0;
  uint32_t lines_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace httpsys::engine
