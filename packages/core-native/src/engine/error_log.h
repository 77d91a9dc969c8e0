#pragma once
// The log of requests that were refused before JavaScript: docs/error-log.md. One file a process,
// which several processes may share: each line is one write to its end.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "common/records.h"
#include "common/url_prefix_table.h"

namespace httpsys::engine {

struct LogEntry {
  int fd = -1;  // The connection, for its addresses.
  int version_major = 1;
  int version_minor = -1;
  std::string_view method;  // Empty = unknown, as the next two.
  std::string_view target;
  std::string_view reason;
  int status = 0;  // 0 = none was sent.
  uint32_t server_id = 0;
};

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
  // Beyond limits::kLogLinesPerSecond lines are counted, and the number is logged.
  void Write(const LogEntry& entry);

 private:
  bool TakeTurn(uint64_t second, uint64_t* dropped);

  int fd_ = -1;
  std::mutex mutex_;
  uint64_t second_ = 0;
  uint32_t lines_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace httpsys::engine
