#include "files/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "files/file_calls.h"

namespace httpsys::files {

std::unique_ptr<OpenFile> OpenFile::Take(int fd) {
  std::unique_ptr<OpenFile> file(new OpenFile(fd));
  FileFacts facts;
  int error = LookAtFile(fd, &facts);
  if (error == 0 && !facts.is_regular) error = EINVAL;
  if (error != 0) {
    file.reset();
    errno = error;
    return nullptr;
  }
  file->device_ = facts.device;
  if (facts.is_in_memory) file->way_ = ReadWay::kMemory;
  // Finds out whether the file system takes probes.
  char byte;
  (void)file->ReadNow(&byte, 1, 0);
  return file;
}

std::unique_ptr<OpenFile> OpenFile::Duplicate(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? nullptr : Take(copy);
}

// On a network file system close(2) waits for the server, so the last owner should be a thread that
// may wait.
OpenFile::~OpenFile() { close(fd_); }

ssize_t OpenFile::Read(void* to, size_t bytes, uint64_t offset) const {
  ssize_t got;
  do {
    got = pread(fd_, to, bytes, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got;
}

ssize_t OpenFile::ReadNow(void* to, size_t bytes, uint64_t offset) const {
  if (way() == ReadWay::kMemory) return Read(to, bytes, offset);
  if (way() == ReadWay::kProbed) {
    const ssize_t got = ReadInMemory(fd_, to, bytes, offset);
    if (got >= 0) return got;
    if (errno == EOPNOTSUPP) way_.store(ReadWay::kUnsure, std::memory_order_relaxed);
  }
  // A read error is found again by the read that may wait.
  errno = EAGAIN;
  return -1;
}

bool OpenFile::IsInMemory(uint64_t offset, size_t bytes) const {
  if (way() == ReadWay::kMemory) return true;
  char byte;
  if (ReadNow(&byte, 1, offset) < 0) return false;
  return bytes < 2 || ReadNow(&byte, 1, offset + bytes - 1) >= 0;
}

}  // namespace httpsys::files
