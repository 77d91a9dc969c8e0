#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/socket_calls.h"
#include "files/file_calls.h"

namespace httpsys::files {

namespace {

void Fill(const struct stat& found, FileFacts* facts) {
#ifdef __APPLE__
  const timespec& modified = found.st_mtimespec;
  const timespec& changed = found.st_ctimespec;
#else
  const timespec& modified = found.st_mtim;
  const timespec& changed = found.st_ctim;
#endif
  const auto time = [](const timespec& at) {
    return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
  };
  facts->is_regular = S_ISREG(found.st_mode);
  facts->device = static_cast<uint64_t>(found.st_dev);
  facts->inode = found.st_ino;
  facts->size = static_cast<uint64_t>(found.st_size);
  facts->modified_ns = time(modified);
  facts->changed_ns = time(changed);
}

}  // namespace

int LookAtFile(int fd, FileFacts* facts) {
  struct stat found;
  if (fstat(fd, &found) != 0) return errno;
  Fill(found, facts);
  return 0;
}

int LookAtPath(const std::string& path, FileFacts* facts) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return errno;
  Fill(found, facts);
  return 0;
}

// The system does not say what is in memory.
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
