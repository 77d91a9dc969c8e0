// Opening below a folder in one call: openat2(2).

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "files/file_calls.h"
#include "files/open_beneath.h"

namespace httpsys::files {
namespace {

// O_NONBLOCK: if the path names a pipe or device by now, opening must not wait for another program.
constexpr uint64_t kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

int Openat2(int root, const char* relative, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags;
  how.resolve = resolve;
  const long fd = syscall(SYS_openat2, root, relative, &how, sizeof how);
  return fd == -1 ? -errno : static_cast<int>(fd);
}

// Repeats Openat2() while the system reports an interruption (kOpenAttemptsMax).
int OpenPatiently(int root, const char* relative, uint64_t flags, uint64_t resolve) {
  int fd = -EAGAIN;
  for (int attempt = 0; attempt < kOpenAttemptsMax; ++attempt) {
    fd = Openat2(root, relative, flags, resolve);
    if (fd != -EAGAIN && fd != -EINTR) break;
  }
  return fd;
}

// Opens the very file of an O_PATH descriptor for reading. Fails if /proc cannot be used.
int OpenLocated(int located) {
  const std::string path = "/proc/self/fd/" + std::to_string(located);
  int fd = -1;
  int attempts = 0;
  do {
    fd = open(path.c_str(), static_cast<int>(kReadFlags));
  } while (fd == -1 && errno == EINTR && ++attempts < kOpenAttemptsMax);
  return fd == -1 ? -errno : fd;
}

}  // namespace

int OpenRoot(const std::string& path) {
  const int fd = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  return fd == -1 ? -errno : fd;
}

bool CanOpenBeneath(int root) {
  const int fd = Openat2(root, ".", O_PATH | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  if (fd < 0) return false;
  close(fd);
  return true;
}

int OpenBeneath(int root, const std::string& relative, LinkPolicy links, MountPolicy mounts) {
  const char* const path = relative.empty() ? "." : relative.c_str();
  const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
                           (links == LinkPolicy::kRefuse ? uint64_t{RESOLVE_NO_SYMLINKS} : 0) |
                           (mounts == MountPolicy::kRefuse ? uint64_t{RESOLVE_NO_XDEV} : 0);
  const int located = OpenPatiently(root, path, O_PATH | O_CLOEXEC, resolve);
  if (located < 0) return located;
  FileFacts facts;
  const int error = ReadFileFacts(located, &facts);
  if (error == 0 && facts.kind == FileKind::kFolder) return located;
  int fd = -ENXIO;
  if (error != 0) {
    fd = -error;
  } else if (facts.kind == FileKind::kFile) {
    fd = OpenLocated(located);
    // Without /proc, open the path again, although it may name another file by now.
    if (fd < 0) fd = OpenPatiently(root, path, kReadFlags, resolve);
  }
  close(located);
  return fd;
}

}  // namespace httpsys::files
