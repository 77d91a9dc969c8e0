#pragma once
// The line on stderr about requests that were refused before JavaScript got them, for processes
// without an error log: at most one a second, with a count for each reason (docs/error-log.md).

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Numbers of refused requests, indexed by RouteStatus.
using Refusals = std::array<uint64_t, static_cast<size_t>(RouteStatus::kTooManyConnections) + 1>;

// True if the line counts requests of this status. It leaves out requests that are refused only by
// a fault of the client.
bool IsNoticed(RouteStatus status);

// Counts the refused requests of all lanes, and writes the lines. Thread: any.
class RefusalNotice {
 public:
  // The notice of the process. It writes nothing before Start().
  static RefusalNotice& Instance();

  RefusalNotice& operator=(RefusalNotice&&) = delete;

  // Begins to write to `fd`, until other code of the process replaces its file. `page` names the
  // page that explains the reasons. Only the first call has an effect.
  void Start(int fd, const std::string& page);
  // Adds the requests that one lane has refused. Returns true if the caller must call Tell() after
  // limits::kLogDroppedMs.
  bool Add(const Refusals& refusals);
  // Writes a line if requests were refused; within a second after the last line only if `is_last`.
  // Returns false if it is too early for a line. Does not wait for the reader of the lines: counts
  // that cannot be written now are part of a later line.
  bool Tell(bool is_last);

 private:
  using Clock = std::chrono::steady_clock;

  std::string Line(Clock::time_point now) const;
  bool Write(const std::string& line) const;

  std::mutex mutex_;
  // Constant after Start().
  int fd_ = -1;
  // Identify the file of the descriptor.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  std::string page_;

  Refusals untold_{};
  Clock::time_point since_;  // When the first of untold_ was added.
  Clock::time_point last_;   // When the last line was written.
  bool has_untold_ = false;
};

}  // namespace httpsys::engine
