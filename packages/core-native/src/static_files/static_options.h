#pragma once
// Options of a served folder: the ones of serve-static 2, checked and completed by JavaScript.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/content_coding.h"
#include "static_files/header_rules.h"

namespace httpsys::static_files {

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
