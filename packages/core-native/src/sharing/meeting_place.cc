#include "sharing/meeting_place.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>

#include "base/limits.h"
#include "sharing/named_files.h"
#include "sharing/rank_owners.h"
#include "sharing/unix_diag.h"

namespace httpsys::sharing {
namespace {

constexpr int kBacklog = 512;
// In a directory: that of a member.
constexpr const char* kLongestName = "m-0123456789abcdef";

int OpenSocket() {
#ifdef __linux__
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return fd == -1 ? -errno : fd;
#else
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd == -1) return -errno;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
#endif
}

// Names that are files are absolute paths; abstract ones do not begin with a slash.
bool IsFile(const std::string& name) { return !name.empty() && name[0] == '/'; }

// 0 when the name is too long.
socklen_t Address(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (name.size() + 1 >= sizeof address->sun_path) return 0;
  if (IsFile(name)) {
    std::memcpy(address->sun_path, name.data(), name.size());
    return sizeof *address;
  }
  // The first byte stays zero: an abstract name.
  std::memcpy(address->sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

// What all names of the process begin with in the directory that was chosen.
struct Directory {
  std::mutex mutex;
  bool is_chosen = false;
  std::string path;
  std::string start;
};

Directory& TheDirectory() {
  static Directory directory;
  return directory;
}

// A port belongs to a network namespace, and a directory may be seen from several. The number of
// the namespace keeps their names apart. Returns false where it cannot be told.
bool NamespacePrefix(std::string* prefix) {
#ifdef __linux__
  struct stat found {};
  if (stat("/proc/self/ns/net", &found) != 0) return false;
  *prefix = std::to_string(found.st_ino) + '-';
#else
  prefix->clear();
#endif
  return true;
}

std::string DefaultStart() {
#ifdef __linux__
  return "httpsys/1/" + std::to_string(geteuid()) + "/";
#else
  return "/tmp/httpsys-1-" + std::to_string(geteuid()) + "/";
#endif
}

std::string Name(const std::string& last) {
  Directory& directory = TheDirectory();
  const std::lock_guard lock(directory.mutex);
  return (directory.start.empty() ? DefaultStart() : directory.start) + last;
}

// The directory that was chosen is the user's to make, and the default one ours.
bool IsDefault(const std::string& name) { return name.starts_with(DefaultStart()); }

// Nobody says who listens where too many wait, but the kernel.
bool IsStrangersRank(const std::string& name) {
  static RankOwners owners([](const std::string& asked) {
    Credentials there;
    return IsStrangers(asked, &there);
  });
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return owners.IsStrangers(
      name, static_cast<uint64_t>(
                std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
}

int BindAndListen(int fd, const std::string& name) {
  sockaddr_un address;
  const socklen_t size = Address(name, &address);
  if (size == 0) return -ENAMETOOLONG;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) return -errno;
  return listen(fd, kBacklog) == 0 ? 0 : -errno;
}

}  // namespace

int UseRuntimeDirectory(const std::string& path) {
  Directory& directory = TheDirectory();
  const std::lock_guard lock(directory.mutex);
  if (directory.is_chosen) return directory.path == path ? 0 : -EALREADY;
  std::string prefix;
  if (!path.empty() && !NamespacePrefix(&prefix)) return -ENOSYS;
  sockaddr_un address;
  const std::string longest = path + '/' + prefix + kLongestName;
  if (!path.empty() && Address(longest, &address) == 0) return -ENAMETOOLONG;
  directory.is_chosen = true;
  directory.path = path;
  if (!path.empty()) directory.start = path + '/' + prefix;
  return 0;
}

std::string PortName(uint16_t port, uint32_t rank) {
  const std::string name = Name(std::to_string(port));
  return rank == 0 ? name : name + '-' + std::to_string(rank);
}

std::string MemberName(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "m/%016llx", static_cast<unsigned long long>(id));
  std::string name = Name(text);
  if (IsFile(name)) name[name.size() - 17] = '-';
  return name;
}

int ListenUnder(const std::string& name, NamedSocket* socket) {
  const int fd = OpenSocket();
  if (fd < 0) return fd;
  int lock_fd = -1;
  if (IsFile(name)) {
    lock_fd = IsDefault(name) ? MakeFolder(name) : 0;
    if (lock_fd == 0) lock_fd = LockName(name);
    if (lock_fd < 0) {
      close(fd);
      return lock_fd;
    }
  }
  const int status = BindAndListen(fd, name);
  *socket = {fd, lock_fd, name};
  if (status != 0) CloseNamed(socket);
  return status;
}

void CloseNamed(NamedSocket* socket) {
  if (socket->fd != -1) close(socket->fd);
  if (socket->lock_fd != -1) RemoveName(socket->name, socket->lock_fd);
  *socket = {};
}

int ConnectTo(const std::string& name) {
  sockaddr_un address;
  const socklen_t size = Address(name, &address);
  if (size == 0) return -ENAMETOOLONG;
  const int fd = OpenSocket();
  if (fd < 0) return fd;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

int ConnectToRank(uint16_t port, uint32_t rank) {
  const int fd = ConnectTo(PortName(port, rank));
  if (rank == 0) return fd;
  if (fd == -EAGAIN && IsStrangersRank(PortName(port, rank))) return -EACCES;
  if (fd < 0) return fd;
  Credentials there;
  if (ReadCredentials(fd, &there) && there.uid == geteuid()) return fd;
  close(fd);
  return -EACCES;
}

int ConnectToCoordinator(uint16_t port, uint32_t* rank) {
  for (*rank = limits::kRanksMax - 1; *rank > 0; --*rank) {
    const int fd = ConnectToRank(port, *rank);
    if (fd >= 0 || fd == -EAGAIN) return fd;
  }
  return ConnectToRank(port, 0);
}

bool IsRankPassed(uint16_t port, uint32_t rank) {
  for (uint32_t higher = rank + 1; higher < limits::kRanksMax; ++higher) {
    const int fd = ConnectToRank(port, higher);
    if (fd >= 0) close(fd);
    if (fd >= 0 || fd == -EAGAIN) return true;
  }
  return false;
}

bool IsStrangers(const std::string& name, Credentials* stranger) {
  *stranger = {};
  const int fd = ConnectTo(name);
  bool is_known = fd >= 0 && ReadCredentials(fd, stranger);
  if (fd >= 0) close(fd);
  if (!is_known) {
    is_known =
        IsFile(name) ? UidOfFolder(name, &stranger->uid) : UidOfAbstractName(name, &stranger->uid);
  }
  return is_known && stranger->uid != geteuid();
}

bool IsGone(uint64_t id) {
  const int fd = ConnectTo(MemberName(id));
  if (fd < 0) return fd == -ECONNREFUSED || fd == -ENOENT;
  // A name that a process has lost can be taken by anybody.
  Credentials there;
  const bool is_strangers = ReadCredentials(fd, &there) && there.uid != geteuid();
  close(fd);
  return is_strangers;
}

bool ReadCredentials(int fd, Credentials* credentials) {
#ifdef __linux__
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return false;
  *credentials = {found.uid, static_cast<uint32_t>(found.pid)};
  return true;
#else
  uid_t uid = 0;
  gid_t gid = 0;
  if (getpeereid(fd, &uid, &gid) != 0) return false;
  pid_t pid = 0;
#ifdef LOCAL_PEERPID
  socklen_t size = sizeof pid;
  getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &pid, &size);
#endif
  *credentials = {uid, static_cast<uint32_t>(pid)};
  return true;
#endif
}

uint64_t RandomId() {
  std::random_device device;
  uint64_t id = 0;
  while (id == 0) id = uint64_t{device()} << 32 | device();
  return id;
}

}  // namespace httpsys::sharing
