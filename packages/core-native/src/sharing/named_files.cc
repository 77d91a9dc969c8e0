#include "sharing/named_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>
#include <string_view>

#include "base/limits.h"
#include "base/process.h"

namespace httpsys::sharing {
namespace {

constexpr std::string_view kLockSuffix = ".lock";
// Maximum number of attempts to lock a name. An attempt fails only if another process removes the
// lock file between open() and flock().
constexpr int kLockAttempts = 8;
// Minimum age of lock files that are swept: younger ones might not be locked yet by their process.
constexpr time_t kSweptAgeSeconds = 60;

std::string FolderOf(const std::string& name) { return name.substr(0, name.rfind('/')); }

std::string LockOf(const std::string& name) { return name + std::string(kLockSuffix); }

// Returns true if the descriptor is that of the file now at the path.
bool IsAt(int fd, const std::string& path) {
  struct stat open {};
  struct stat there {};
  return fstat(fd, &open) == 0 && lstat(path.c_str(), &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

bool IsOld(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const time_t now = time(nullptr);
  return found.st_mtime < now - kSweptAgeSeconds;
}

// The names that this process has. A process that ends without closing its engine removes them in
// its last moment; one that is killed leaves them to SweepFolder().
struct Held {
  std::mutex mutex;
  std::set<std::string> names;
  bool is_watched = false;
};

Held& TheHeld() { return OfProcess<Held>(); }

void RemoveFiles(const std::string& name) {
  // The lock file is removed last: until then no other process can take the name.
  unlink(name.c_str());
  unlink(LockOf(name).c_str());
}

void Remember(const std::string& name) {
  Held& held = TheHeld();
  const std::lock_guard lock(held.mutex);
  held.names.insert(name);
  if (held.is_watched) return;
  held.is_watched = AtExit([] {
    Held& held = TheHeld();
    const std::lock_guard lock(held.mutex);
    for (const std::string& each : held.names) RemoveFiles(each);
    held.names.clear();
  });
}

// Returns names in a folder that have a lock file, which files of other programs do not have.
std::vector<std::string> LockedNames(const std::string& folder, size_t most) {
  std::vector<std::string> names;
  DIR* const stream = opendir(folder.c_str());
  if (stream == nullptr) return names;
  while (names.size() < most) {
    const dirent* const entry = readdir(stream);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.size() <= kLockSuffix.size() || !name.ends_with(kLockSuffix)) continue;
    const std::string_view stem = name.substr(0, name.size() - kLockSuffix.size());
    if (stem.find_first_not_of("0123456789abcdefm-") != std::string_view::npos) continue;
    names.push_back(folder + '/' + std::string(stem));
  }
  closedir(stream);
  return names;
}

// If no process has the name any more, removes its files and returns true; returns false otherwise.
bool RemoveAbandoned(const std::string& name) {
  if (!IsOld(LockOf(name))) return false;
  const int fd = open(LockOf(name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd == -1) return false;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !IsAt(fd, LockOf(name))) {
    close(fd);
    return false;
  }
  RemoveName(name, fd);
  return true;
}

}  // namespace

int CheckFolder(const std::string& name) {
  struct stat found {};
  if (lstat(FolderOf(name).c_str(), &found) != 0) return -errno;
  const bool is_ours =
      S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 077) == 0;
  return is_ours ? 0 : -EACCES;
}

bool UidOfFolder(const std::string& name, uint32_t* uid) {
  struct stat found {};
  if (lstat(FolderOf(name).c_str(), &found) != 0) return false;
  *uid = found.st_uid;
  return true;
}

int MakeFolder(const std::string& name) {
  return mkdir(FolderOf(name).c_str(), 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

int LockName(const std::string& name) {
  if (const int refused = CheckFolder(name); refused != 0) return refused;
  const std::string path = LockOf(name);
  for (int i = 0; i < kLockAttempts; ++i) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd == -1) return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno == EWOULDBLOCK ? EADDRINUSE : errno;
      close(fd);
      return -error;
    }
    // The previous owner may have removed the file meanwhile: then this lock protects nothing.
    if (IsAt(fd, path)) {
      unlink(name.c_str());
      Remember(name);
      return fd;
    }
    close(fd);
  }
  return -EADDRINUSE;
}

void RemoveName(const std::string& name, int lock_fd) {
  {
    Held& held = TheHeld();
    const std::lock_guard lock(held.mutex);
    held.names.erase(name);
  }
  RemoveFiles(name);
  close(lock_fd);
}

int SweepFolder(const std::string& name) {
  if (CheckFolder(name) != 0) return 0;
  int removed = 0;
  for (const std::string& each : LockedNames(FolderOf(name), limits::kSweptNamesMax)) {
    if (RemoveAbandoned(each)) ++removed;
  }
  return removed;
}

std::vector<std::string> ListNames(const std::string& start, size_t most) {
  if (CheckFolder(start) != 0) return {};
  std::vector<std::string> names = LockedNames(FolderOf(start), limits::kSweptNamesMax);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(start); });
  if (names.size() > most) names.resize(most);
  return names;
}

}  // namespace httpsys::sharing
