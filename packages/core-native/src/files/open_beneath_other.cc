// Opening below a folder on systems without a call for it.

#include <fcntl.h>

#include <cerrno>

#include "files/open_beneath.h"

namespace httpsys::files {

int OpenRoot(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd == -1 ? -errno : fd;
}

bool CanOpenBeneath(int /*root*/) { return false; }

int OpenBeneath(int root, const std::string& relative, LinkPolicy links, MountPolicy /*mounts*/) {
  return portable::OpenBeneath(root, relative, links);
}

}  // namespace httpsys::files
