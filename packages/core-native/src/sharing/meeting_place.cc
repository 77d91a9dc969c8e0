#include "sharing/meeting_place.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>

#include "base/limits.h"
#include "base/process.h"
#include "base/unix_sockets.h"
#include "sharing/name_place.h"
#include "sharing/named_files.h"

namespace httpsys::sharing {

bool RankOwners::IsStrangers(const std::string& name, uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::erase_if(answers_, [=](const auto& item) {
    return now_ms - item.second.asked_ms >= limits::kRankOwnerMs;
  });
  const auto [found, is_new] = answers_.try_emplace(name);
  if (is_new) found->second = {now_ms, ask_(name)};
  return found->second.is_strangers;
}

namespace {

constexpr int kBacklog = 512;
// The longest file name: with a chosen directory's path it must fit into a socket address.
constexpr const char* kLongestName = "m-0123456789abcdef";

// Returns true if a name is a file's: an absolute path. Abstract names begin with no slash.
bool IsFile(const std::string& name) { return !name.empty() && name[0] == '/'; }

// The place that UseNamePlace() has set; nullptr = none.
struct UsedPlace {
  std::atomic<const NamePlace*> place = nullptr;
};

// Returns the place where names are kept unless a directory was chosen.
const NamePlace& DefaultPlace() {
  const NamePlace* place = OfProcess<UsedPlace>().place.load(std::memory_order_relaxed);
  return place == nullptr ? SystemPlace() : *place;
}

const NamePlace& PlaceOf(const std::string& name) {
  return IsFile(name) ? DirectoryPlace() : SystemPlace();
}

// The directory that UseRuntimeDirectory() has chosen; `start` begins all names there.
struct Directory {
  std::mutex mutex;
  bool is_chosen = false;
  std::string path;
  std::string start;
};

Directory& TheDirectory() { return OfProcess<Directory>(); }

std::string Name(const std::string& last) {
  Directory& directory = TheDirectory();
  const std::lock_guard lock(directory.mutex);
  return (directory.start.empty() ? DefaultPlace().DefaultStart() : directory.start) + last;
}

// Returns true for names in the default directory: this process makes it, but not a chosen one.
bool IsDefault(const std::string& name) { return name.starts_with(DefaultPlace().DefaultStart()); }

// Remembers who owns names with a full backlog: connecting fails, so the kernel must be asked.
struct KernelAnswers {
  RankOwners owners{[](const std::string& name) {
    Credentials there;
    return IsStrangers(name, &there);
  }};
};

bool IsStrangersRank(const std::string& name) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return OfProcess<KernelAnswers>().owners.IsStrangers(
      name,
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()));
}

int BindAndListen(int fd, const sockaddr_un& address, socklen_t size) {
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) return -errno;
  return listen(fd, kBacklog) == 0 ? 0 : -errno;
}

}  // namespace

void UseNamePlace(const NamePlace& place) { OfProcess<UsedPlace>().place = &place; }

int UseRuntimeDirectory(const std::string& path) {
  Directory& directory = TheDirectory();
  const std::lock_guard lock(directory.mutex);
  if (directory.is_chosen) return directory.path == path ? 0 : -EALREADY;
  std::string prefix;
  if (!path.empty() && !DefaultPlace().NamespacePrefix(&prefix)) return -ENOSYS;
  sockaddr_un address;
  const std::string longest = path + '/' + prefix + kLongestName;
  if (!path.empty() && DirectoryPlace().AddressOf(longest, &address) == 0) return -ENAMETOOLONG;
  directory.is_chosen = true;
  directory.path = path;
  if (!path.empty()) directory.start = path + '/' + prefix;
  return 0;
}

std::string PortName(uint16_t port, uint32_t rank) {
  const std::string name = Name(std::to_string(port));
  return rank == 0 ? name : name + '-' + std::to_string(rank);
}

std::vector<std::string> NamesOfUser(const std::string& start, size_t most) {
  std::vector<std::string> names;
  PlaceOf(start).List(start, most, &names);
  return names;
}

std::string MemberName(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "m/%016llx", static_cast<unsigned long long>(id));
  std::string name = Name(text);
  if (IsFile(name)) name[name.size() - 17] = '-';
  return name;
}

int ListenUnder(const std::string& name, NamedSocket* socket) {
  sockaddr_un address;
  const socklen_t size = PlaceOf(name).AddressOf(name, &address);
  if (size == 0) return -ENAMETOOLONG;
  const int fd = OpenUnixSocket();
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
  const int status = BindAndListen(fd, address, size);
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
  const socklen_t size = PlaceOf(name).AddressOf(name, &address);
  if (size == 0) return -ENAMETOOLONG;
  const int fd = OpenUnixSocket();
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
  if (!is_known) is_known = PlaceOf(name).UidOf(name, &stranger->uid);
  return is_known && stranger->uid != geteuid();
}

bool IsGone(uint64_t id) {
  const int fd = ConnectTo(MemberName(id));
  if (fd < 0) return fd == -ECONNREFUSED || fd == -ENOENT;
  // Check the listener's user: any user can take a name whose process has ended.
  Credentials there;
  const bool is_strangers = ReadCredentials(fd, &there) && there.uid != geteuid();
  close(fd);
  return is_strangers;
}

bool IsOwnUser(int fd) {
  Credentials there;
  return ReadCredentials(fd, &there) && there.uid == geteuid();
}

bool ReadCredentials(int fd, Credentials* credentials) {
  return ReadUnixPeer(fd, &credentials->uid, &credentials->pid);
}

uint64_t RandomId() {
  std::random_device device;
  uint64_t id = 0;
  while (id == 0) id = uint64_t{device()} << 32 | device();
  return id;
}

}  // namespace httpsys::sharing
