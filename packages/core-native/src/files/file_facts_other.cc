#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "files/file_facts.h"

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

}  // namespace httpsys::files
