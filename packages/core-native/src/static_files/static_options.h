#pragma once
// Options of a served folder: the ones of serve-static 2, checked and completed by JavaScript.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "semantics/content_coding.h"

namespace httpsys::static_files {

// Header fields that the application sets for selected files.
struct HeaderRule {
  // Selects the files that get the field:
  // - a pattern that begins with a dot: files whose name ends with it (`.woff2`, `.min.js`);
  // - a pattern with a slash: a glob over the path below the root (`assets/**/*.js`);
  // - any other: a glob over the name (`*.map`, `index.html`).
  // In a glob `*` is any number of bytes within a segment, `?` is one of them, `**` also spans
  // segments, and `**/` is any number of folders, or none. The case counts.
  std::string pattern;
  std::string name;   // A token; no framing field, no Content-Encoding.
  std::string value;  // A valid field value.
};

// Returns true if the rule applies to the file. `path` is relative to the root, and has at most
// kFilePathBytesMax bytes. At worst proportional to the product of both lengths. Thread: any.
[[nodiscard]] bool IsRuleFor(const HeaderRule& rule, std::string_view path);

// Largest max-age of a response in seconds: a year, as in serve-static.
inline constexpr uint64_t kMaxAgeSecondsMax = 365 * 24 * 60 * 60;

// Answer to paths in which a segment below the root begins with a dot.
enum class Dotfiles : uint8_t {
  kIgnore,  // 404.
  kDeny,    // 403.
  kAllow,
};

struct StaticOptions {
  // True if the application gets requests without a file, and methods other than GET and HEAD.
  bool fallthrough = true;
  Dotfiles dotfiles = Dotfiles::kIgnore;
  // Names that are tried, in this order, in a folder whose path ends with a slash.
  std::vector<std::string> index = {"index.html"};
  // Extensions (without dot) that are tried if a name without extension does not exist.
  std::vector<std::string> extensions;
  bool redirect = true;       // A folder without its final slash is answered with 301.
  bool cache_control = true;  // Responses have Cache-Control, made from the next two members.
  uint64_t max_age_seconds = 0;
  bool immutable = false;
  bool etag = true;
  bool last_modified = true;
  bool accept_ranges = true;
  // Codings for which a sibling may exist: `a.js.br`, `a.js.zst` or `a.js.gz` beside `a.js`.
  semantics::CodingSet precompressed;
  // Values of Content-Type by extension, in lower case and without dot.
  std::unordered_map<std::string, std::string> types;
  // Rules for further fields. They replace fields of the same name that a response would have. For
  // each name the last rule counts.
  std::vector<HeaderRule> header_rules;
};

}  // namespace httpsys::static_files
