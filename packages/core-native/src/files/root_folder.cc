#include "files/root_folder.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptors.h"

namespace httpsys::files {

RootFolder::RootFolder(std::string path, LinkPolicy links, int fd, bool walks,
                       const FileFacts& facts)
    : path_(std::move(path)), links_(links), fd_(fd), walks_(walks), facts_(facts) {}

RootFolder::~RootFolder() {
  if (IsOpen()) close(fd_);
}

bool RootFolder::IsOpen() const {
  FileFacts now;
  return ReadFileFacts(fd_, &now) == 0 && now.IsSameFile(facts_);
}

std::unique_ptr<RootFolder> RootFolder::Open(std::string path, LinkPolicy links, OpenWay way,
                                             int* error) {
  const int fd = MoveToOwn(OpenRoot(path));
  if (fd < 0) {
    *error = -fd;
    return nullptr;
  }
  FileFacts facts;
  *error = ReadFileFacts(fd, &facts);
  if (*error != 0) {
    close(fd);
    return nullptr;
  }
  const bool walks = way == OpenWay::kWalk || !CanOpenBeneath(fd);
  return std::unique_ptr<RootFolder>(new RootFolder(std::move(path), links, fd, walks, facts));
}

OpenedFile RootFolder::OpenFile(const std::string& relative, MountPolicy mounts) const {
  OpenedFile opened;
  const int fd = walks_ ? portable::OpenBeneath(fd_, relative, links_)
                        : OpenBeneath(fd_, relative, links_, mounts);
  // Check after the call: a lost descriptor does not come back. So if the folder is open now, it
  // was open during the call, and `fd` is below it.
  const bool is_beneath = IsOpen();
  if (fd < 0 || !is_beneath) {
    if (fd >= 0) close(fd);
    opened.error = is_beneath ? -fd : EBADF;
    return opened;
  }
  opened.error = ReadFileFacts(fd, &opened.facts);
  if (opened.error == 0 && opened.facts.kind == FileKind::kFile) {
    opened.fd = fd;
  } else {
    close(fd);
  }
  return opened;
}

bool RootFolder::IsCurrent() const {
  FileFacts found;
  return ReadPathFacts(path_, &found) == 0 && found.IsSameFile(facts_) && IsOpen();
}

}  // namespace httpsys::files
