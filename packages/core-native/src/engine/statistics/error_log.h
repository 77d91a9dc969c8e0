#pragma once
// The log of requests that were refused before JavaScript got them (docs/error-log.md). Several
// processes may write to the same file: each line is appended by one write.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "records/addresses.h"
#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// The fields of the line about one refused request. The views must be valid while the line is
// written.
struct LogRecord {
  // The connection's descriptor. Its addresses are read from the kernel unless `addresses` has
  // them.
  int fd = -1;
  const Addresses* addresses = nullptr;
  int version_major = 1;
  int version_minor = -1;   // Negative = unknown.
  std::string_view method;  // Empty = unknown.
  std::string_view target;  // Empty = unknown.
  std::string_view reason;  // HTTP.SYS's reason phrase.
  int status = 0;           // 0 = nothing was sent.
  uint32_t server_id = 0;
};

// Returns the reason phrase of HTTP.SYS's error log.
std::string_view ReasonFor(records::ErrorKind kind, bool is_in_body);
std::string_view ReasonFor(RouteStatus status);
// Returns the status code of the answer.
int StatusFor(records::ErrorKind kind);
int StatusFor(RouteStatus status);

// Writes the log file of a process. Thread: any.
class ErrorLog {
 public:
  // The log of this process, in the file that HTTPSYS_ERROR_LOG names. Without that variable
  // nothing is written.
  static ErrorLog& Instance();

  explicit ErrorLog(const char* path);
  ~ErrorLog();
  ErrorLog& operator=(ErrorLog&&) = delete;

  // True if the file was opened at least once. If opening it again fails later, lines are lost
  // until that succeeds.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // Returns the errno with which opening the file failed; 0 if it was opened, and on every later
  // call.
  int TakeFailure() { return failure_.exchange(0, std::memory_order_relaxed); }
  const std::string& path() const { return path_; }
  // Writes a line. Returns false if the line was left out because this second has had
  // limits::kLogLinesPerSecond lines: the caller must call WriteDropped() in a later second.
  bool Write(const LogRecord& entry);
  // Writes how many lines were left out; in the same second as the last line only if `is_last`.
  // Returns false if nothing was written because it is too early.
  bool WriteDropped(bool is_last);

 private:
  bool TakeTurn(uint64_t second, uint64_t* dropped);
  void SayDropped(uint64_t dropped);

  void Open();
  // Opens the file again if other code of the process has closed its descriptor. Called with the
  // mutex held.
  void KeepOpen();

  const std::string path_;
  std::atomic<bool> is_on_ = false;
  std::atomic<int> fd_ = -1;
  // Identify the file of the descriptor.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  std::atomic<int> failure_ = 0;
  std::mutex mutex_;
  uint64_t second_ = 0;
  uint32_t lines_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace httpsys::engine
