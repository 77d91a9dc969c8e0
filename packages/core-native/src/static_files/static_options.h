#pragma once
// What an application wants of the files of a folder: the options of serve-static 2, checked and
// completed by JavaScript.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/content_coding.h"
#include "static_files/header_rules.h"

namespace httpsys::static_files {

// Longest time for which a response is fresh, as in serve-static: a year.
inline constexpr uint64_t kMaxAgeSecondsMax = 365 * 24 * 60 * 60;

// What happens to paths with a segment that begins with a dot, below the root.
enum class Dotfiles : uint8_t {
  kIgnore,  // 404.
  kDeny,    // 403.
  kAllow,
};

struct StaticOptions {
  // Errors below 500 of requests that name no file pass to the application, as do other methods
  // than GET and HEAD.
  bool fallthrough = true;
  Dotfiles dotfiles = Dotfiles::kIgnore;
  // Names in a folder whose path ends with a slash, in the order in which they are tried.
  std::vector<std::string> index = {"index.html"};
  // Extensions, without dot, that are tried for a name without one that does not exist.
  std::vector<std::string> extensions;
  bool redirect = true;       // A folder without its slash is answered with 301.
  bool cache_control = true;  // Responses have Cache-Control, from the next two.
  uint64_t max_age_seconds = 0;
  bool immutable = false;
  bool etag = true;
  bool last_modified = true;
  bool accept_ranges = true;
  // Codings of which `a.js.br`, `a.js.zst` and `a.js.gz` may exist beside `a.js`.
  semantics::CodingSet precompressed;
  // Values of Content-Type by extension, in lower case and without dot.
  std::unordered_map<std::string, std::string> types;
  // Fields that files get; those that responses have anyway are replaced. Of several rules for one
  // name the last one counts.
  std::vector<HeaderRule> header_rules;
};

}  // namespace httpsys::static_files
