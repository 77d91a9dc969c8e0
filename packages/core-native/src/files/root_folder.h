#pragma once
// A folder whose files are served.

#include <memory>
#include <string>

#include "files/file_facts.h"
#include "files/open_beneath.h"

namespace httpsys::files {

enum class OpenWay : uint8_t {
  kBest,  // In one call, if the system can.
  kWalk,  // Segment by segment.
};

struct OpenedFile {
  int error = 0;  // An errno. 0: the path names something, and `facts` are valid.
  int fd = -1;    // Open for reading if it is a regular file, -1 otherwise. The caller closes it.
  FileFacts facts;
};

// The folder that a path named when it was opened. If another folder gets that name, as a
// deployment may do, this one stays the same, even if it is removed: a request never sees files of
// two folders. Thread: any.
class RootFolder {
 public:
  // Opens a folder. Returns null, and the errno in `error`, if that fails.
  [[nodiscard]] static std::unique_ptr<RootFolder> Open(std::string path, LinkPolicy links,
                                                        OpenWay way, int* error);
  ~RootFolder();
  RootFolder(const RootFolder&) = delete;
  RootFolder& operator=(const RootFolder&) = delete;

  // Opens a file below the folder. `relative` is a path of ReadRequestPath(); empty for the folder
  // itself. Everything but a regular file is closed again; what is no folder either is ENXIO. May
  // wait for a slow disk or a network. With MountPolicy::kRefuse, the error is EXDEV where the path
  // leads to a file system that is mounted below the folder, for which nothing has waited then;
  // where a link leads out of the folder, too. A folder that walks() crosses mounts at once. EBADF:
  // other code of the process has closed the folder (IsOpen()).
  [[nodiscard]] OpenedFile OpenFile(const std::string& relative,
                                    MountPolicy mounts = MountPolicy::kCross) const;

  // Returns true if the path that was opened still names this folder, which is still open. May wait
  // as OpenFile() does.
  [[nodiscard]] bool IsCurrent() const;

  // Returns false if other code of the process has closed the descriptor, whose number may be that
  // of another folder by now. Nothing is opened through that number then, and it is not closed.
  // Waits for no server.
  [[nodiscard]] bool IsOpen() const;

  // The device that the folder is on.
  uint64_t device() const { return facts_.device; }
  bool walks() const { return walks_; }

 private:
  RootFolder(std::string path, LinkPolicy links, int fd, bool walks, const FileFacts& facts);

  std::string path_;
  LinkPolicy links_;
  int fd_;
  bool walks_;
  FileFacts facts_;
};

}  // namespace httpsys::files
