#pragma once
// What stderr says of requests that were refused before JavaScript had them, for those who keep no
// error log: one line a second at most, with how many there were by reason (docs/error-log.md).

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Requests by the status of their route.
using Refusals = std::array<uint64_t, static_cast<size_t>(RouteStatus::kTooManyConnections) + 1>;

// Whether the line counts requests of that status. It does not count what is the client's fault
// alone.
bool IsNoticed(RouteStatus status);

// Counts the refused requests of all lanes until a line has told them. Thread: any.
class RefusalNotice {
 public:
  // That of the process. It says nothing before Start().
  static RefusalNotice& Instance();

  RefusalNotice() = default;
  RefusalNotice(const RefusalNotice&) = delete;
  RefusalNotice& operator=(const RefusalNotice&) = delete;

  // Begins to write to `fd`, for as long as it is what it is now. `page` says where the reasons are
  // explained. Only the first call of a process has an effect.
  void Start(int fd, const std::string& page);
  // Adds what one lane has refused. Returns true if the caller must call Tell() after
  // limits::kLogDroppedMs.
  bool Add(const Refusals& refusals);
  // Writes a line, if there is something to tell; within a second after the last line only if
  // `is_last`. Returns false if nothing was written because it is too early. Does not wait for
  // whoever reads the lines: what cannot be written now is part of a later line.
  bool Tell(bool is_last);

 private:
  using Clock = std::chrono::steady_clock;

  std::string Line(Clock::time_point now) const;
  bool Write(const std::string& line) const;

  std::mutex mutex_;
  // Constant after Start().
  int fd_ = -1;
  // What the descriptor is open on.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  std::string page_;

  Refusals untold_{};
  Clock::time_point since_;  // When the first one of untold_ was added.
  Clock::time_point last_;   // When the last line was written.
  bool has_untold_ = false;
};

}  // namespace httpsys::engine
