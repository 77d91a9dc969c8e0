#pragma once
// Brings paths into the form in which URL prefixes and requests are compared.

#include <cstddef>
#include <string>
#include <string_view>

namespace httpsys {

// The limits that HTTP.SYS has for a path by default (its registry values UrlSegmentMaxLength and
// UrlSegmentMaxCount): decoded characters (UTF-16 units) of one segment, and segments.
inline constexpr size_t kUrlSegmentUnitsMax = 260;
inline constexpr size_t kUrlSegmentsMax = 255;

// True when DecodePath() would return `path` as it is.
[[nodiscard]] bool IsPlainPath(std::string_view path);

// Percent-decodes `path` and removes its dot segments. `%2F` stays encoded, so it never splits a
// segment. What does not decode to UTF-8 (`%`, `%XY`, overlong forms, surrogates) stays as it is.
// `path` begins with '/'; so does the result. Linear in the length of `path`.
[[nodiscard]] std::string DecodePath(std::string_view path);

// True if every '%' of `path` begins %XX, and the escapes are characters of UTF-8 as they stand.
// Then DecodePath() decodes all of them but `%2F`. Linear in the length of `path`.
[[nodiscard]] bool HasOnlyUtf8Escapes(std::string_view path);

struct TargetParts {
  std::string_view path;       // The path without its query; "/" if the target has no path.
  std::string_view authority;  // The authority of an absolute-form target; otherwise empty.
  bool is_absolute = false;    // The target has a scheme, and so an authority, which may be empty.
  bool is_pathless_query = false;  // `http://host?query`.
};

// Splits a request target as received: origin-form, absolute-form, authority-form or `*`; the last
// two have the path `/`.
[[nodiscard]] TargetParts SplitTarget(std::string_view target);

// True when HTTP.SYS would take a request with this target, whose bytes are visible ASCII. It
// refuses, with Windows' defaults,
// - a '%' that begins neither %XX nor %uXXXX,
// - what decodes to U+0000 to U+001F, or to U+007F,
// - a path whose %XX are not UTF-8 as a whole and that has %81, %8D, %8F, %90 or %9D: it reads such
//   a path in the code page of the system, and these mean nothing in Windows-1252,
// - `http://host?query`,
// - a segment of more than kUrlSegmentUnitsMax characters, more than kUrlSegmentsMax segments.
// The query is not looked at. Linear in the length of `target`. docs/url-prefixes.md has sources.
[[nodiscard]] bool IsStrictTarget(std::string_view target);

// Lowers letters in place by simple case folding: ASCII, and in UTF-8 Latin-1, Latin Extended-A,
// Greek and Cyrillic, all of which keep their length. Other bytes are not touched. Scripts with
// case beyond U+0460 compare exactly: their foldings change length or depend on a Unicode version,
// and a prefix must not match differently in two processes that share a port.
void FoldCase(char* text, size_t bytes);

}  // namespace httpsys
