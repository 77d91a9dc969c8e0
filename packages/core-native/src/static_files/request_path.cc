#include "static_files/request_path.h"

#include <algorithm>

#include "url/url_path.h"

namespace httpsys::static_files {
namespace {

// True for bytes that a path may contain; '%' is checked separately.
bool IsPlainByte(char c) { return c > ' ' && c < 0x7F && c != '\\'; }

// Returns true if all escapes are valid and stand for bytes that may be in a file name.
bool IsWellFormed(std::string_view path) {
  if (!HasOnlyUtf8Escapes(path)) return false;
  for (size_t at = 0; at < path.size(); ++at) {
    if (!IsPlainByte(path[at])) return false;
    if (path[at] != '%') continue;
    for (const std::string_view refused : {"00", "2f", "2F", "5c", "5C"}) {
      if (path.substr(at + 1, 2) == refused) return false;
    }
    at += 2;
  }
  return true;
}

// Calls `visit` with each segment that is not empty.
template <typename Visit>
void ForEachSegment(std::string_view path, Visit visit) {
  while (!path.empty()) {
    const size_t bytes = std::min(path.find('/'), path.size());
    if (bytes > 0) visit(path.substr(0, bytes));
    path.remove_prefix(std::min(bytes + 1, path.size()));
  }
}

// Returns true if the segment consists of `dots` dots, each written as `.` or `%2e`.
bool IsDots(std::string_view segment, size_t dots) {
  for (size_t i = 0; i < dots; ++i) {
    const size_t bytes = segment.starts_with('.')                                   ? 1
                         : segment.starts_with("%2e") || segment.starts_with("%2E") ? 3
                                                                                    : 0;
    if (bytes == 0) return false;
    segment.remove_prefix(bytes);
  }
  return segment.empty();
}

// Returns true if a `..` has no segment before it that it could remove. DecodePath() ignores such a
// `..` (RFC 3986, section 5.2.4), but no honest client sends one.
bool LeavesRoot(std::string_view path) {
  size_t depth = 0;
  bool leaves = false;
  ForEachSegment(path, [&](std::string_view segment) {
    if (IsDots(segment, 1)) return;
    if (!IsDots(segment, 2)) {
      ++depth;
    } else if (depth == 0) {
      leaves = true;
    } else {
      --depth;
    }
  });
  return leaves;
}

RequestPath Refused(PathStatus status) {
  RequestPath result;
  result.status = status;
  return result;
}

}  // namespace

RequestPath ReadRequestPath(std::string_view path, size_t prefix_bytes) {
  if (path.size() > kRequestPathBytesMax) return Refused(PathStatus::kTooLong);
  if (!IsWellFormed(path)) return Refused(PathStatus::kMalformed);
  if (LeavesRoot(path)) return Refused(PathStatus::kOutside);
  const std::string decoded = DecodePath(path);
  RequestPath result;
  // The path may be one byte shorter than the prefix: without the prefix's final slash.
  result.has_final_slash = decoded.size() >= prefix_bytes && decoded.ends_with('/');
  const std::string_view below =
      std::string_view(decoded).substr(std::min(prefix_bytes, decoded.size()));
  ForEachSegment(below, [&](std::string_view segment) {
    if (segment.starts_with('.')) result.has_dotfile = true;
    if (!result.relative.empty()) result.relative.push_back('/');
    result.relative.append(segment);
  });
  if (result.relative.size() > kFilePathBytesMax) return Refused(PathStatus::kTooLong);
  return result;
}

}  // namespace httpsys::static_files
