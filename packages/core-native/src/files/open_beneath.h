#pragma once
// Opens files below a folder, and nothing else, whatever the path and whoever changes the folder
// meanwhile.

#include <cstdint>
#include <string>

namespace httpsys::files {

enum class LinkPolicy : uint8_t {
  kRefuse,         // A path with a symbolic link opens nothing.
  kFollowBeneath,  // Links are followed unless they lead out of the folder, or are absolute.
};

enum class MountPolicy : uint8_t {
  kRefuse,  // What is on a file system that is mounted below the folder opens nothing.
  kCross,
};

// Attempts of one opening when the system says that it was disturbed (EAGAIN: somebody renamed a
// folder on the way; EINTR). Whoever renames all the time may not keep a thread.
inline constexpr int kOpenAttemptsMax = 8;
// Folders that a walk has open at a time: as deep as a path may go. Each is a descriptor.
inline constexpr size_t kWalkDepthMax = 64;
// Links that a walk follows for one path, as the system does.
inline constexpr int kWalkLinksMax = 40;

// Opens a folder as the root of others. It is open for its name only: nothing is read from it.
// Returns a descriptor or a negative errno. Thread: any.
[[nodiscard]] int OpenRoot(const std::string& path);

// Returns true if the system can open below a folder in one call: Linux since 5.6, unless a filter
// of system calls (an old one of a container) refuses it. `root` is an open folder. Thread: any.
[[nodiscard]] bool CanOpenBeneath(int root);

// Opens a regular file for reading, and a folder for its facts. `relative` is a path of
// ReadRequestPath(); empty for the folder itself. Returns a descriptor that programs started later
// do not get, or a negative errno: what leads out of the folder, or to a mount that is refused, is
// -EXDEV; a link that is refused or too many of them -ELOOP; a pipe, a socket or a device -ENXIO,
// without opening it, which another program would notice. Only if CanOpenBeneath(). May wait for a
// slow disk or a network; with MountPolicy::kRefuse only for that of the folder. Thread: any.
[[nodiscard]] int OpenBeneath(int root, const std::string& relative, LinkPolicy links,
                              MountPolicy mounts);

// The same by one call for each segment of the path, which crosses mounts. Works on every system.
namespace portable {

[[nodiscard]] int OpenBeneath(int root, const std::string& relative, LinkPolicy links);

}  // namespace portable
}  // namespace httpsys::files
