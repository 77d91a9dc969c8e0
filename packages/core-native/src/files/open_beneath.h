#pragma once
// Opens files only below a folder, for every path, even if other programs change links meanwhile.

#include <cstdint>
#include <string>

namespace httpsys::files {

enum class LinkPolicy : uint8_t {
  kRefuse,         // A path with a symbolic link opens nothing.
  kFollowBeneath,  // Links are followed unless they lead out of the folder, or are absolute.
};

enum class MountPolicy : uint8_t {
  kRefuse,  // A path to a file system that is mounted below the folder opens nothing.
  kCross,
};

// Maximum number of attempts to open a file if the system reports an interruption (EINTR, or
// EAGAIN: a folder on the path was renamed). Limited because a program that renames all the time
// must not keep a thread busy.
inline constexpr int kOpenAttemptsMax = 8;
// Maximum depth of a path. A walk keeps a descriptor of each folder on the path open.
inline constexpr size_t kWalkDepthMax = 64;
// Maximum number of symbolic links that a walk follows for one path; Linux has the same limit.
inline constexpr int kWalkLinksMax = 40;

// Opens a folder, so that files below it can be opened. The descriptor has no other use; reading
// through it may fail. Returns a descriptor or a negative errno. Thread: any.
[[nodiscard]] int OpenRoot(const std::string& path);

// Returns true if the system can open a file below a folder in one call: Linux since 5.6, unless a
// filter of system calls (an old container's) refuses it. `root` is an open folder. Thread: any.
[[nodiscard]] bool CanOpenBeneath(int root);

// Opens a regular file for reading, or a folder for its facts. `relative` is a path of
// ReadRequestPath(); empty for the folder itself. Returns a close-on-exec descriptor or a negative
// errno: -EXDEV if the path leads out of the folder or to a refused mount; -ELOOP for a refused
// link or too many links; -ENXIO for a pipe, a socket or a device, without opening it, because
// another program would notice that. Must be called only if CanOpenBeneath(). May wait for a slow
// disk or a network; with MountPolicy::kRefuse only for the folder's own. Thread: any.
[[nodiscard]] int OpenBeneath(int root, const std::string& relative, LinkPolicy links,
                              MountPolicy mounts);

// Does the same as OpenBeneath() by one system call for each segment of the path, and always
// crosses mounts. Works on every system.
namespace portable {

[[nodiscard]] int OpenBeneath(int root, const std::string& relative, LinkPolicy links);

}  // namespace portable
}  // namespace httpsys::files
