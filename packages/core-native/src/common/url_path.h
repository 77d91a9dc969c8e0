#pragma once
// The form of a path in which URL prefixes and requests are compared.

#include <string>
#include <string_view>

namespace httpsys {

// True when DecodePath() would return `path` as it is.
[[nodiscard]] bool IsPlainPath(std::string_view path);

// Percent-decodes `path` and removes its dot segments. `%2F` stays encoded, so it never splits a
// segment. What does not decode to UTF-8 (`%`, `%XY`, overlong forms, surrogates) stays as it is.
// `path` begins with '/'; so does the result. Linear in the length of `path`.
[[nodiscard]] std::string DecodePath(std::string_view path);

// Lowers letters in place by simple case folding: ASCII, and in UTF-8 Latin-1, Latin Extended-A,
// Greek and Cyrillic, all of which keep their length. Other bytes are not touched. Scripts with
// case beyond U+0460 compare exactly: their foldings change length or depend on a Unicode version,
// and a prefix must not match differently in two processes that share a port.
void FoldCase(char* text, size_t bytes);

}  // namespace httpsys
