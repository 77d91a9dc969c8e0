#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/descriptors.h"
#include "files/file_calls.h"

namespace httpsys::files {
namespace {

// Clamps the time: nanoseconds in 64 bits cannot express all times of files.
int64_t Nanoseconds(const timespec& time) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  constexpr int64_t kSecondsMax = std::numeric_limits<int64_t>::max() / kNsPerSecond - 1;
  return std::clamp<int64_t>(time.tv_sec, -kSecondsMax, kSecondsMax) * kNsPerSecond + time.tv_nsec;
}

FileKind KindOf(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  return S_ISDIR(mode) ? FileKind::kFolder : FileKind::kOther;
}

void Fill(const struct stat& found, FileFacts* facts) {
#ifdef __APPLE__
  const timespec& modified = found.st_mtimespec;
  const timespec& changed = found.st_ctimespec;
#else
  const timespec& modified = found.st_mtim;
  const timespec& changed = found.st_ctim;
#endif
  *facts = {.kind = KindOf(found.st_mode),
            .device = static_cast<uint64_t>(found.st_dev),
            .inode = static_cast<uint64_t>(found.st_ino),
            .size = static_cast<uint64_t>(std::max<off_t>(found.st_size, 0)),
            .modified_ns = Nanoseconds(modified),
            .changed_ns = Nanoseconds(changed)};
}

}  // namespace

int ReadFileFacts(int fd, FileFacts* facts) {
  struct stat found {};
  if (fstat(fd, &found) != 0) return errno;
  Fill(found, facts);
  return 0;
}

int ReadPathFacts(const std::string& path, FileFacts* facts) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno;
  Fill(found, facts);
  return 0;
}

bool IsAlwaysInMemory(int) { return false; }

// Always fails: this system does not report which bytes are in memory.
ssize_t ReadInMemory(int, void*, size_t, uint64_t) {
  errno = EOPNOTSUPP;
  return -1;
}

ssize_t SendFileBytes(int socket, int file, uint64_t offset, size_t bytes) {
  char buffer[16 * 1024];
  const ssize_t got =
      pread(file, buffer, std::min(bytes, sizeof buffer), static_cast<off_t>(offset));
  if (got <= 0) return got;
  return send(socket, buffer, static_cast<size_t>(got), kSendFlags | MSG_DONTWAIT);
}

}  // namespace httpsys::files
