#pragma once
// Converts the path of a request to the path of a file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::static_files {

// -- Parts of a file path with slashes.

constexpr std::string_view LastSegment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the extension of the last segment with its dot, like Node's path.extname(): empty without
// a dot, and for a name whose only dot is its first byte.
constexpr std::string_view ExtensionOf(std::string_view path) {
  const std::string_view name = LastSegment(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot);
}

// Longest file path that is opened, in bytes without a final NUL (PATH_MAX of Linux), and longest
// request path for it, with three bytes (%XX) for each byte. Longer ones are not decoded.
inline constexpr size_t kFilePathBytesMax = 4095;
inline constexpr size_t kRequestPathBytesMax = 3 * kFilePathBytesMax;

enum class PathStatus : uint8_t {
  kValid,
  kMalformed,  // 400.
  kOutside,    // 403: `..` leaves the root of the server.
  kTooLong,    // 404: no file has such a name.
};

struct RequestPath {
  PathStatus status = PathStatus::kValid;
  // Valid with kValid. The path below the served folder, empty for the folder itself. Segments are
  // separated by single slashes; none is empty, `.` or `..`, or has a slash, backslash or NUL.
  std::string relative;
  bool has_final_slash = false;  // The path ends with a slash: `/sub/`.
  bool has_dotfile = false;      // A segment begins with a dot: `/.well-known/`, `/a/.env`.
};

// Reads the path of a request that has matched a URL prefix. `path` is SplitTarget(target).path as
// received, in which UrlPrefixTable::Match() has found the prefix. `prefix_bytes` is the length of
// the prefix's path, final slash included.
//
// Match() and this function find prefix and file in the same string: both decode the path once, by
// DecodePath(), which removes dot segments; the result begins with the prefix (perhaps in another
// case, which has the same length). So `/files/../x` names no file below `/files/`, because it does
// not match that prefix, and `/x/../files/a` names `a`. The path `/files` without its slash is the
// folder itself, without a final slash.
//
// Malformed are: a '%' that begins no %XX; %XX that together are no UTF-8, overlong forms and
// surrogates included; %00; `%2F`, `%5C` and a backslash, which file systems or other programs may
// read as a separator; and bytes that no request target has. Linear in the length of `path`.
// Thread: any.
[[nodiscard]] RequestPath ReadRequestPath(std::string_view path, size_t prefix_bytes);

}  // namespace httpsys::static_files
