// Opening below a folder, segment by segment. Each segment is opened in the folder before it, which
// stays open: programs that rename folders meanwhile cannot lead the walk elsewhere. `..` in the
// target of a link means the previous folder of the walk.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>

#include "files/open_beneath.h"

namespace httpsys::files::portable {
namespace {

// Flags that open a folder; where the system has O_PATH, without the permission to list it.
#if defined(O_PATH)
constexpr int kSearchFlags = O_PATH;
#elif defined(O_SEARCH)
constexpr int kSearchFlags = O_SEARCH;
#else
constexpr int kSearchFlags = O_RDONLY;
#endif

int OpenSegment(int folder, const std::string& segment, int flags) {
  int fd = -1;
  int attempts = 0;
  do {
    fd = openat(folder, segment.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
  } while (fd == -1 && errno == EINTR && ++attempts < kOpenAttemptsMax);
  return fd == -1 ? -errno : fd;
}

class Walk {
 public:
  Walk(int root, const std::string& relative, LinkPolicy links)
      : root_(root), left_(relative), links_(links) {}
  ~Walk() {
    while (depth_ > 0) Leave();
  }
  Walk& operator=(Walk&&) = delete;

  // Walks the path. Returns a descriptor, or a negative errno.
  int Run() {
    for (;;) {
      const std::string segment = TakeSegment();
      const bool is_last = left_.find_first_not_of('/') == std::string::npos;
      if (segment.empty() || segment == ".") {
        if (is_last) return OpenSegment(folder(), ".", kSearchFlags | O_DIRECTORY);
        continue;
      }
      const std::optional<int> result =
          segment == ".." ? Ascend() : Descend(segment, is_last && left_.empty());
      if (result.has_value()) return *result;
    }
  }

 private:
  static constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

  int folder() const { return depth_ == 0 ? root_ : folders_[depth_ - 1]; }

  void Leave() { close(folders_[--depth_]); }

  std::string TakeSegment() {
    const size_t bytes = std::min(left_.find('/'), left_.size());
    std::string segment = left_.substr(0, bytes);
    left_.erase(0, bytes + 1);
    return segment;
  }

  // Ascend(), Descend() and Follow() return the result of Run(), or nothing if the walk continues.

  std::optional<int> Ascend() {
    if (depth_ == 0) return -EXDEV;
    Leave();
    return std::nullopt;
  }

  std::optional<int> Descend(const std::string& segment, bool is_last) {
    if (!is_last && depth_ == folders_.size()) return -ENAMETOOLONG;
    int flags = kSearchFlags | O_DIRECTORY;
    if (is_last) {
      // Check the type first, so that no pipe or device is opened (unless it appears just now).
      struct stat found;
      if (fstatat(folder(), segment.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return -errno;
      if (S_ISLNK(found.st_mode)) return Follow(segment, -ELOOP);
      if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return -ENXIO;
      if (S_ISREG(found.st_mode)) flags = kReadFlags;
    }
    const int fd = OpenSegment(folder(), segment, flags);
    // Errors that systems report for a symbolic link.
    if (fd == -ELOOP || fd == -ENOTDIR || fd == -EMLINK) return Follow(segment, fd);
    if (fd < 0 || is_last) return fd;
    folders_[depth_++] = fd;
    return std::nullopt;
  }

  // Continues with the target of a symbolic link. If the segment is no link, returns `error`, the
  // reason why it could not be opened.
  std::optional<int> Follow(const std::string& segment, int error) {
    std::array<char, PATH_MAX> target;
    const ssize_t bytes = readlinkat(folder(), segment.c_str(), target.data(), target.size());
    if (bytes < 0) return error;
    if (links_ == LinkPolicy::kRefuse || ++links_followed_ > kWalkLinksMax) return -ELOOP;
    const std::string_view text(target.data(), static_cast<size_t>(bytes));
    if (text.empty()) return -ENOENT;
    if (text.front() == '/') return -EXDEV;
    if (text.size() + 1 + left_.size() >= PATH_MAX) return -ENAMETOOLONG;
    left_ = left_.empty() ? std::string(text) : std::string(text) + "/" + left_;
    return std::nullopt;
  }

  int root_;
  std::string left_;
  LinkPolicy links_;
  int links_followed_ = 0;
  // Open folders of the walk below the root, the deepest one last.
  std::array<int, kWalkDepthMax> folders_;
  size_t depth_ = 0;
};

}  // namespace

int OpenBeneath(int root, const std::string& relative, LinkPolicy links) {
  return Walk(root, relative, links).Run();
}

}  // namespace httpsys::files::portable
