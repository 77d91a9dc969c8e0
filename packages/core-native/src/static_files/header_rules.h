#pragma once
// Header fields of the application's choice for some of the files.

#include <string>
#include <string_view>

namespace httpsys::static_files {

struct HeaderRule {
  // Which files get the field:
  // - a pattern that begins with a dot: files whose name ends with it (`.woff2`, `.min.js`);
  // - a pattern with a slash: a glob over the path below the root (`assets/**/*.js`);
  // - any other: a glob over the name (`*.map`, `index.html`).
  // In a glob `*` is any number of bytes within a segment, `?` is one of them, `**` also spans
  // segments, and `**/` is any number of folders, or none. The case counts.
  std::string pattern;
  std::string name;   // A token. No field that frames the response, nor a Content-Encoding.
  std::string value;  // A valid field value.
};

// Returns true if the rule is for the file. `path` is relative to the root, and at most
// kFilePathBytesMax long. Takes at most the product of the two lengths. Thread: any.
[[nodiscard]] bool IsRuleFor(const HeaderRule& rule, std::string_view path);

}  // namespace httpsys::static_files
