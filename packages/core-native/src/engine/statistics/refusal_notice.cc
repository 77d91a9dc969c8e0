#include "engine/statistics/refusal_notice.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "base/limits.h"
#include "base/process.h"
#include "engine/statistics/error_log.h"

namespace httpsys::engine {
namespace {

struct OwnNotice {
  // At exit, because process.exit() does not end I/O threads, which would write the last line.
  OwnNotice() {
    (void)AtExit([] { RefusalNotice::Instance().Tell(true); });
  }

  RefusalNotice notice;
};

bool IsWritten(ssize_t written) { return written > 0; }

// Writes to a pipe, a terminal or another device without waiting. O_NONBLOCK cannot be set on the
// descriptor itself, because all processes that share its file description would get it. Opening
// the file again makes a description of our own.
bool WriteToDevice(int fd, std::string_view line) {
  constexpr int kFlags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int own = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), kFlags);
  if (own != -1) {
    const bool is_written = IsWritten(write(own, line.data(), line.size()));
    close(own);
    return is_written;
  }
  if (errno == ENXIO) return false;  // No process reads the pipe.
  // No /proc, or a terminal of another user. A pipe that is ready accepts a whole line.
  pollfd ready{fd, POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) return false;
  return IsWritten(write(fd, line.data(), line.size()));
}

}  // namespace

bool IsNoticed(RouteStatus status) {
  switch (status) {
    case RouteStatus::kMatch:
    case RouteStatus::kBadHost:
    case RouteStatus::kBadUrl:
      return false;
    default:
      return true;
  }
}

RefusalNotice& RefusalNotice::Instance() { return OfProcess<OwnNotice>().notice; }

void RefusalNotice::Start(int fd, const std::string& page) {
  const std::lock_guard lock(mutex_);
  struct stat found {};
  if (fd_ != -1 || fstat(fd, &found) != 0) return;
  fd_ = fd;
  device_ = found.st_dev;
  inode_ = found.st_ino;
  page_ = page;
}

bool RefusalNotice::Add(const Refusals& refusals) {
  const std::lock_guard lock(mutex_);
  if (fd_ == -1) return false;
  if (!std::exchange(has_untold_, true)) since_ = Clock::now();
  for (size_t i = 0; i < refusals.size(); ++i) untold_[i] += refusals[i];
  return true;
}

bool RefusalNotice::Tell(bool is_last) {
  std::string line;
  Refusals told;
  Clock::time_point since;
  {
    const std::lock_guard lock(mutex_);
    if (!has_untold_) return true;
    const Clock::time_point now = Clock::now();
    const bool is_early = now - last_ < std::chrono::milliseconds(limits::kLogDroppedMs);
    if (is_early && !is_last) return false;
    line = Line(now);
    told = std::exchange(untold_, {});
    since = since_;
    last_ = now;
    has_untold_ = false;
  }
  if (Write(line)) return true;
  (void)Add(told);
  const std::lock_guard lock(mutex_);
  since_ = since;
  return true;
}

std::string RefusalNotice::Line(Clock::time_point now) const {
  // Several statuses have the same reason.
  std::vector<std::pair<std::string_view, uint64_t>> reasons;
  uint64_t total = 0;
  for (size_t i = 0; i < untold_.size(); ++i) {
    if (untold_[i] == 0) continue;
    total += untold_[i];
    const std::string_view reason = ReasonFor(static_cast<RouteStatus>(i));
    const auto is_same = [&](const auto& one) { return one.first == reason; };
    const auto known = std::find_if(reasons.begin(), reasons.end(), is_same);
    if (known == reasons.end()) {
      reasons.emplace_back(reason, untold_[i]);
    } else {
      known->second += untold_[i];
    }
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const int64_t seconds = std::chrono::round<std::chrono::seconds>(now - since_).count();
  std::string line = "httpsys: refused " + std::to_string(total);
  line.append(total == 1 ? " request" : " requests").append(" in ");
  line.append(std::to_string(std::max<int64_t>(seconds, 1))).append(" s");
  std::string_view separator = ": ";
  for (const auto& [reason, count] : reasons) {
    line.append(separator).append(reason).append(" ").append(std::to_string(count));
    separator = ", ";
  }
  return line.append(" (").append(page_).append(")\n");
}

bool RefusalNotice::Write(const std::string& line) const {
  struct stat found {};
  // Other code of the process may have closed the descriptor; its number may belong to another
  // file.
  if (fstat(fd_, &found) != 0 || found.st_dev != device_ || found.st_ino != inode_) return false;
  if (S_ISREG(found.st_mode)) return IsWritten(write(fd_, line.data(), line.size()));
  if (S_ISSOCK(found.st_mode)) {
    return IsWritten(send(fd_, line.data(), line.size(), MSG_DONTWAIT | kSendFlags));
  }
  return WriteToDevice(fd_, line);
}

}  // namespace httpsys::engine
