#include "sharing/meeting_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <random>

namespace httpsys::sharing {
namespace {

constexpr int kBacklog = 512;

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

// 0 when the name is too long.
socklen_t Address(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (name.size() + 1 >= sizeof address->sun_path) return 0;
#ifdef __linux__
  // The first byte stays zero: an abstract name.
  std::memcpy(address->sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
#else
  std::memcpy(address->sun_path, name.data(), name.size());
  return sizeof *address;
#endif
}

std::string Name(const std::string& last) {
#ifdef __linux__
  return "httpsys/1/" + std::to_string(geteuid()) + "/" + last;
#else
  return "/tmp/httpsys-1-" + std::to_string(geteuid()) + "/" + last;
#endif
}

int BindAndListen(int fd, const std::string& name) {
  sockaddr_un address;
  const socklen_t size = Address(name, &address);
  if (size == 0) return -ENAMETOOLONG;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0) return -errno;
  return listen(fd, kBacklog) == 0 ? 0 : -errno;
}

#ifndef __linux__
// A file that only its living owner has locked.
int LockFile(const std::string& name) {
  const std::string folder = name.substr(0, name.rfind('/'));
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return -errno;
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return -errno;
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    return -EACCES;
  }
  const int fd = open((name + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd == -1) return -errno;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int error = errno == EWOULDBLOCK ? EADDRINUSE : errno;
  close(fd);
  return -error;
}
#endif

}  // namespace

std::string PortName(uint16_t port) { return Name(std::to_string(port)); }

std::string MemberName(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "m/%016llx", static_cast<unsigned long long>(id));
#ifndef __linux__
  text[1] = '-';
#endif
  return Name(text);
}

int ListenUnder(const std::string& name, NamedSocket* socket) {
  const int fd = OpenSocket();
  if (fd < 0) return fd;
#ifndef __linux__
  socket->lock_fd = LockFile(name);
  if (socket->lock_fd < 0) {
    close(fd);
    return socket->lock_fd;
  }
  unlink(name.c_str());
#endif
  const int status = BindAndListen(fd, name);
  if (status != 0) {
    close(fd);
    if (socket->lock_fd >= 0) close(socket->lock_fd);
    socket->lock_fd = -1;
    return status;
  }
  socket->fd = fd;
  return 0;
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

bool IsGone(uint64_t id) {
  const int fd = ConnectTo(MemberName(id));
  if (fd >= 0) close(fd);
  return fd == -ECONNREFUSED || fd == -ENOENT;
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
