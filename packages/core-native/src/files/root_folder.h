#pragma once
// A folder whose files are served.

#include <memory>
#include <string>

#include "files/file_calls.h"
#include "files/open_beneath.h"

namespace httpsys::files {

enum class OpenWay : uint8_t {
  kBest,  // By one system call, if possible.
  kWalk,  // Segment by segment.
};

struct OpenedFile {
  int error = 0;  // A positive errno; 0 = the path exists, and `facts` are valid.
  int fd = -1;    // Open for reading if it is a regular file, -1 otherwise. The caller closes it.
  FileFacts facts;
};

// The folder that a path named when it was opened. The object keeps this folder even if another one
// gets its name, as by a deployment: so a request never sees files of both. Thread: any.
class RootFolder {
 public:
  // Opens a folder. On failure, returns nullptr and sets `error` to an errno.
  [[nodiscard]] static std::unique_ptr<RootFolder> Open(std::string path, LinkPolicy links,
                                                        OpenWay way, int* error);
  ~RootFolder();
  RootFolder& operator=(RootFolder&&) = delete;

  // Opens a file below the folder. `relative` is a path of ReadRequestPath(); empty for the folder
  // itself. Only a regular file stays open; the error is ENXIO for anything but files and folders.
  // May wait for a slow disk or a network. With MountPolicy::kRefuse, the error is EXDEV if the
  // path leads to a file system that is mounted below the folder (without waiting for it), or if a
  // link leads out of the folder; a folder with walks() ignores kRefuse. EBADF: other code of the
  // process has closed the folder (IsOpen()).
  [[nodiscard]] OpenedFile OpenFile(const std::string& relative,
                                    MountPolicy mounts = MountPolicy::kCross) const;

  // Returns true if the opened path still names this folder, and the folder is still open. May wait
  // for a slow disk or a network.
  [[nodiscard]] bool IsCurrent() const;

  // Returns false if other code of the process has closed the descriptor, whose number may belong
  // to another folder by now: it is neither used nor closed then. Does not wait for a server.
  [[nodiscard]] bool IsOpen() const;

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
