#pragma once
// Parts of a file path with slashes.

#include <cstddef>
#include <string_view>

namespace httpsys::static_files {

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

}  // namespace httpsys::static_files
