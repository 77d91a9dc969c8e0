// Opening below a folder in one call: openat2(2).

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "files/open_beneath.h"

namespace httpsys::files {
namespace {

int Openat2(int root, const char* relative, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags;
  how.resolve = resolve;
  const long fd = syscall(SYS_openat2, root, relative, &how, sizeof how);
  return fd == -1 ? -errno : static_cast<int>(fd);
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
  int fd = -EAGAIN;
  for (int attempt = 0; attempt < kOpenAttemptsMax; ++attempt) {
    fd = Openat2(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, resolve);
    if (fd != -EAGAIN && fd != -EINTR) break;
  }
  return fd;
}

}  // namespace httpsys::files
