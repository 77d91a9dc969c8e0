#pragma once
// Header fields that the application sets for selected files.

#include <string>
#include <string_view>

namespace httpsys::static_files {

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

}  // namespace httpsys::static_files
