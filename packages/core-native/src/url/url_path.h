#pragma once
// Normalizes URL paths to the form in which prefixes and requests are compared.

#include <cstddef>
#include <string>
#include <string_view>

namespace httpsys {

// HTTP.SYS' default limits for a path (registry values UrlSegmentMaxLength and UrlSegmentMaxCount):
// decoded characters (UTF-16 units) of one segment, and number of segments.
inline constexpr size_t kUrlSegmentUnitsMax = 260;
inline constexpr size_t kUrlSegmentsMax = 255;

// True if DecodePath() would return `path` unchanged.
[[nodiscard]] bool IsPlainPath(std::string_view path);

// Percent-decodes `path`, which must begin with '/', and removes its dot segments. `%2F` stays
// encoded: it never splits a segment. Text that does not decode to UTF-8 (`%`, `%XY`, overlong
// forms, surrogates) stays unchanged. The result begins with '/'. Linear in the length of `path`.
[[nodiscard]] std::string DecodePath(std::string_view path);

// True if every '%' of `path` begins a %XX escape, and the escapes form whole UTF-8 characters.
// Then DecodePath() decodes all of them but `%2F`. Linear in the length of `path`.
[[nodiscard]] bool HasOnlyUtf8Escapes(std::string_view path);

struct TargetParts {
  std::string_view path;       // The path without the query; "/" if the target has no path.
  std::string_view authority;  // The authority of an absolute-form target; otherwise empty.
  // True if the target has a scheme, and so an authority, which may be empty.
  bool is_absolute = false;
  bool is_pathless_query = false;  // True for `http://host?query`.
};

// Splits a request target as received: origin-form, absolute-form, authority-form or `*`. The path
// of the last two forms is `/`.
[[nodiscard]] TargetParts SplitTarget(std::string_view target);

// True if HTTP.SYS would accept a request with this target, whose bytes must be visible ASCII. With
// Windows' defaults, HTTP.SYS refuses
// - a '%' that begins neither %XX nor %uXXXX,
// - escapes of U+0000 to U+001F, and of U+007F,
// - a path whose %XX are not all UTF-8 and that has %81, %8D, %8F, %90 or %9D: HTTP.SYS reads such
//   a path in the system's code page, and Windows-1252 does not define these bytes,
// - `http://host?query`,
// - a segment of more than kUrlSegmentUnitsMax characters, more than kUrlSegmentsMax segments.
// The query is not checked. Linear in the length of `target`. docs/url-prefixes.md has sources.
[[nodiscard]] bool IsStrictTarget(std::string_view target);

// Folds the case of letters in place by simple case folding: ASCII and, in UTF-8, Latin-1, Latin
// Extended-A, Greek and Cyrillic, whose foldings keep their length. Other bytes do not change.
// Letters beyond U+0460 are not folded: their foldings change the length or depend on a Unicode
// version, and a prefix must match equally in all processes that share a port.
void FoldCase(char* text, size_t bytes);

}  // namespace httpsys
