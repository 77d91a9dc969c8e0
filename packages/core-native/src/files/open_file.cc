#include "files/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptors.h"

namespace httpsys::files {
namespace {

int OpenPath(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return fd < 0 ? -errno : fd;
}

}  // namespace

class OpenFile::Use {
 public:
  explicit Use(const OpenFile& file) : file_(file) {
    int users = file.users_.load(std::memory_order_relaxed);
    while (users >= 0) {
      if (file.users_.compare_exchange_weak(users, users + 1, std::memory_order_acquire)) {
        is_held_ = true;
        return;
      }
    }
  }
  ~Use() {
    if (is_held_) file_.users_.fetch_sub(1, std::memory_order_release);
  }
  Use& operator=(Use&&) = delete;

  explicit operator bool() const {
    return is_held_ && !file_.is_lost_.load(std::memory_order_relaxed);
  }
  int fd() const { return file_.fd_.load(std::memory_order_relaxed); }

 private:
  const OpenFile& file_;
  bool is_held_ = false;
};

std::unique_ptr<OpenFile> OpenFile::Take(int fd, std::string path) {
  FileFacts facts;
  int error = ReadFileFacts(fd, &facts);
  if (error == 0 && facts.kind != FileKind::kFile) error = EINVAL;
  if (error != 0) {
    close(fd);
    errno = error;
    return nullptr;
  }
  fd = MoveToOwn(fd);
  std::unique_ptr<OpenFile> file(new OpenFile(fd, std::move(path)));
  file->facts_ = facts;
  if (IsAlwaysInMemory(fd)) file->way_ = ReadWay::kMemory;
  // Read a byte, to find out whether the file system supports ReadInMemory().
  char byte;
  (void)file->ReadNow(&byte, 1, 0);
  return file;
}

std::unique_ptr<OpenFile> OpenFile::Duplicate(int fd) {
  const int copy = DuplicateAsOwn(fd);
  return copy < 0 ? nullptr : Take(copy);
}

// May wait: on a network file system, close(2) waits for the server. So the last owner should be on
// a thread that may wait.
OpenFile::~OpenFile() {
  if (has_descriptor()) CloseIfOwn(fd_);
}

void OpenFile::CloseIfOwn(int fd) const {
  FileFacts now;
  if (ReadFileFacts(fd, &now) == 0 && now.IsSameFile(facts_)) close(fd);
}

OpenFile::State OpenFile::Look() const {
  const Use use(*this);
  if (!use) return is_lost_ ? State::kLost : State::kUnchanged;
  FileFacts now;
  if (ReadFileFacts(use.fd(), &now) == 0 && now.IsSameFile(facts_)) {
    return now == facts_ ? State::kUnchanged : State::kChanged;
  }
  is_lost_ = true;
  return State::kLost;
}

ssize_t OpenFile::Read(void* to, size_t bytes, uint64_t offset) const {
  for (;;) {
    if (const Use use(*this); use) {
      ssize_t got;
      do {
        got = pread(use.fd(), to, bytes, static_cast<off_t>(offset));
      } while (got < 0 && errno == EINTR);
      return got;
    }
    if (const int error = is_lost_ ? EBADF : Reopen(); error != 0) {
      errno = error;
      return -1;
    }
  }
}

ssize_t OpenFile::ReadNow(void* to, size_t bytes, uint64_t offset) const {
  const Use use(*this);
  if (use && way() == ReadWay::kMemory)
    return pread(use.fd(), to, bytes, static_cast<off_t>(offset));
  if (use && way() == ReadWay::kProbed) {
    const ssize_t got = ReadInMemory(use.fd(), to, bytes, offset);
    if (got >= 0) return got;
    if (errno == EOPNOTSUPP) way_.store(ReadWay::kUnsure, std::memory_order_relaxed);
  }
  // Also after a read error: Read() reports it.
  errno = EAGAIN;
  return -1;
}

bool OpenFile::IsInMemory(uint64_t offset, size_t bytes) const {
  if (way() == ReadWay::kMemory) return has_descriptor();
  char byte;
  if (ReadNow(&byte, 1, offset) < 0) return false;
  return bytes < 2 || ReadNow(&byte, 1, offset + bytes - 1) >= 0;
}

ssize_t OpenFile::SendTo(int socket, uint64_t offset, size_t bytes) const {
  if (const Use use(*this); use) return SendFileBytes(socket, use.fd(), offset, bytes);
  errno = EAGAIN;
  return -1;
}

bool OpenFile::GiveUp() const {
  if (path_.empty() || is_lost_) return false;
  int users = 0;
  if (users_.compare_exchange_strong(users, kGivenUp, std::memory_order_acquire)) {
    CloseIfOwn(fd_.exchange(-1, std::memory_order_relaxed));
    return true;
  }
  return users == kGivenUp;
}

int OpenFile::Reopen() const {
  if (make_room_ != nullptr) make_room_();
  const int fd = MoveToOwn(opener_ != nullptr ? opener_() : OpenPath(path_));
  if (fd < 0) return -fd;
  FileFacts facts;
  int error = ReadFileFacts(fd, &facts);
  if (error == 0 && facts != facts_) error = ESTALE;
  // If another thread has set fd_ meanwhile, close this descriptor.
  int none = -1;
  if (error != 0 || !fd_.compare_exchange_strong(none, fd, std::memory_order_relaxed)) {
    close(fd);
    return error;
  }
  users_.store(0, std::memory_order_release);
  return 0;
}

int OpenFile::Pin() const {
  for (;;) {
    // The count never decreases, so GiveUp() will always find a user.
    int users = users_.load(std::memory_order_relaxed);
    while (users >= 0 && !is_lost_) {
      if (users_.compare_exchange_weak(users, users + 1, std::memory_order_acquire)) return fd_;
    }
    if (const int error = is_lost_ ? EBADF : Reopen(); error != 0) {
      errno = error;
      return -1;
    }
  }
}

void SentParts::Put(uint32_t id, std::shared_ptr<const FilePart> part) {
  const std::lock_guard lock(mutex_);
  parts_.emplace(id, std::move(part));
}

std::shared_ptr<const FilePart> SentParts::Take(uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(id);
  if (found == parts_.end()) return nullptr;
  std::shared_ptr<const FilePart> part = std::move(found->second);
  parts_.erase(found);
  return part;
}

}  // namespace httpsys::files
