#include "engine/statistics/error_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/descriptors.h"
#include "base/limits.h"
#include "base/process.h"

namespace httpsys::engine {

using records::ErrorKind;

namespace {

constexpr std::string_view kHeader =
    "#Software: httpsys\n#Version: 1.0\n#Fields: date time c-ip c-port s-ip s-port cs-version "
    "cs-method cs-uri sc-status s-siteid s-reason\n";

// Returns a field without spaces and control characters; an empty one is "-".
std::string Field(std::string_view text) {
  if (text.empty()) return "-";
  std::string field(text.substr(0, limits::kLogFieldBytesMax));
  for (char& c : field) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '+';
  }
  return field;
}

std::string Number(uint32_t number) { return number == 0 ? "-" : std::to_string(number); }

void WriteLine(int fd, const std::string& line) {
  // A full disk loses lines, not requests.
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
}

struct OwnLog {
  // At exit, because process.exit() does not end I/O threads, which would write the last line.
  OwnLog() {
    (void)AtExit([] { ErrorLog::Instance().WriteDropped(true); });
  }

  ErrorLog log{EnvironmentVariable("HTTPSYS_ERROR_LOG")};
};

}  // namespace

std::string_view ReasonFor(ErrorKind kind, bool is_in_body) {
  switch (kind) {
    case ErrorKind::kHeaderOverflow:
      return "FieldLength";
    case ErrorKind::kTimeout:
      return is_in_body ? "Timer_EntityBody" : "Timer_HeaderWait";
    case ErrorKind::kBodyTooLarge:
    case ErrorKind::kChunkExtensions:
      return "EntityTooLarge";
    case ErrorKind::kIncomplete:
      return "Connection_Dropped";
    default:
      return "BadRequest";
  }
}

std::string_view ReasonFor(RouteStatus status) {
  switch (status) {
    case RouteStatus::kUnknownHost:
    case RouteStatus::kBadHost:
      return "Hostname";
    case RouteStatus::kNotFound:
      return "NotFound";
    case RouteStatus::kOffline:
      return "AppOffline";
    case RouteStatus::kQueueFull:
      return "QueueFull";
    case RouteStatus::kQueueTimeout:
      return "Timer_AppPool";
    case RouteStatus::kMisdirected:
      return "Hostname";
    case RouteStatus::kBadUrl:
      return "URL";
    case RouteStatus::kLongUrl:
      return "URL_Length";
    case RouteStatus::kNoRelay:
    case RouteStatus::kTooManyConnections:
      return "ConnLimit";
    default:
      return "N/A";
  }
}

int StatusFor(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kHeaderOverflow:
      return 431;
    case ErrorKind::kChunkExtensions:
    case ErrorKind::kBodyTooLarge:
      return 413;
    case ErrorKind::kTimeout:
      return 408;
    default:
      return 400;
  }
}

int StatusFor(RouteStatus status) {
  switch (status) {
    case RouteStatus::kUnknownHost:
    case RouteStatus::kBadHost:
    case RouteStatus::kBadUrl:
      return 400;
    case RouteStatus::kNotFound:
      return 404;
    case RouteStatus::kLongUrl:
      return 414;
    case RouteStatus::kMisdirected:
      return 421;
    default:
      return 503;
  }
}

ErrorLog& ErrorLog::Instance() { return OfProcess<OwnLog>().log; }

ErrorLog::ErrorLog(const char* path) : path_(path == nullptr ? "" : path) {
  if (!path_.empty()) Open();
}

void ErrorLog::Open() {
  // With O_NONBLOCK, opening a pipe does not wait for its reader.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  fd_ = MoveToOwn(open(path_.c_str(), kFlags, 0640));
  if (fd_ == -1) failure_ = errno;
  struct stat found {};
  if (fd_ == -1 || fstat(fd_, &found) != 0) return;
  device_ = found.st_dev;
  inode_ = found.st_ino;
  is_on_ = true;
  if (found.st_size == 0) WriteLine(fd_, std::string(kHeader));
}

void ErrorLog::KeepOpen() {
  struct stat found {};
  const bool is_own = fstat(fd_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
  // The number belongs to another file, or to none: open the log again without closing it.
  if (!is_own) Open();
}

ErrorLog::~ErrorLog() {
  if (fd_ != -1) close(fd_);
}

// Counts a line. Returns false if this second has had all of its lines.
bool ErrorLog::TakeTurn(uint64_t second, uint64_t* dropped) {
  const std::lock_guard lock(mutex_);
  KeepOpen();
  if (second != second_) {
    second_ = second;
    lines_ = 0;
    *dropped = std::exchange(dropped_, 0);
  }
  if (++lines_ <= limits::kLogLinesPerSecond) return true;
  ++dropped_;
  return false;
}

void ErrorLog::SayDropped(uint64_t dropped) {
  if (fd_ != -1 && dropped != 0)
    WriteLine(fd_, "#Dropped: " + std::to_string(dropped) + " lines\n");
}

bool ErrorLog::WriteDropped(bool is_last) {
  uint64_t dropped = 0;
  {
    const std::lock_guard lock(mutex_);
    const bool is_over = static_cast<uint64_t>(std::time(nullptr)) != second_;
    if (dropped_ != 0 && !is_over && !is_last) return false;
    dropped = std::exchange(dropped_, 0);
    if (dropped != 0) KeepOpen();
  }
  SayDropped(dropped);
  return true;
}

bool ErrorLog::Write(const LogRecord& entry) {
  if (!is_on()) return true;
  const std::time_t now = std::time(nullptr);
  uint64_t dropped = 0;
  if (!TakeTurn(static_cast<uint64_t>(now), &dropped)) return false;
  SayDropped(dropped);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char when[32];
  std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &utc);
  Addresses asked;
  if (entry.addresses == nullptr) asked = DescribeConnection(entry.fd, nullptr);
  const Addresses& addresses = entry.addresses == nullptr ? asked : *entry.addresses;
  std::string line(when);
  line.append(" ").append(Field(addresses.remote)).append(" ");
  line.append(Number(addresses.remote_port)).append(" ").append(Field(addresses.local)).append(" ");
  line.append(Number(addresses.local_port)).append(" ");
  line.append(entry.version_minor < 0 ? "-"
                                      : "HTTP/" + std::to_string(entry.version_major) + "." +
                                            std::to_string(entry.version_minor));
  line.append(" ").append(Field(entry.method)).append(" ").append(Field(entry.target)).append(" ");
  line.append(Number(static_cast<uint32_t>(entry.status))).append(" ");
  line.append(Number(entry.server_id)).append(" ").append(entry.reason).append("\n");
  WriteLine(fd_, line);
  return true;
}

}  // namespace httpsys::engine
