#pragma once
// The header fields of a response with a file.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/file_facts.h"
#include "semantics/content_coding.h"
#include "semantics/preconditions.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

// Appends `name: value` as a line.
void AppendField(std::string_view name, std::string_view value, std::string* fields);

// Returns the time of the last change in milliseconds, rounded as stock Node's `stat.mtime` is.
[[nodiscard]] int64_t ModifiedMs(const files::FileFacts& facts);

// Returns false for a file of the seconds 0 and 1 of 1970. Nix and tools that make reproducible
// images give these to every file, so that the time says nothing about the content: a file that
// replaces another one of the same size would have the same validators.
[[nodiscard]] bool HasRealTime(const files::FileFacts& facts);

// Returns the entity tag that `send` makes of a file: `W/"size-mtime"`, both in hexadecimal. That
// of a coding has its name at the end, so that it differs from that of the file in any case.
[[nodiscard]] std::string MakeEtag(const files::FileFacts& facts, semantics::ContentCoding coding);

// The fields of one file in one coding: those of the rules for the file, and those of the options
// that no rule has set.
class FileFields {
 public:
  // `path` is that of the file itself, also if a coding of it is sent. `has_siblings` says whether
  // the coding depends on the request. Options and path must live as long. A file that was changed
  // after `now_seconds` counts as changed then, because no Last-Modified may be later than Date
  // (RFC 9110, section 8.8.2.1).
  FileFields(const StaticOptions* options, std::string_view path, const files::FileFacts& facts,
             semantics::ContentCoding coding, bool has_siblings, int64_t now_seconds);

  // What preconditions are compared with. Views the object.
  [[nodiscard]] semantics::Validators validators() const;
  // The value of Content-Type.
  [[nodiscard]] std::string_view type() const { return type_; }

  // Appends what every response with the file or about it has, 304 included.
  void AppendCommon(std::string* fields) const;
  // Appends what only a response with content has: Content-Encoding and Content-Language. The type
  // and the length are left to the caller.
  void AppendOfContent(std::string* fields) const;
  // Appends Vary, if the coding depends on the request.
  void AppendVary(std::string* fields) const;

 private:
  [[nodiscard]] const HeaderRule* FindRule(std::string_view lower_name) const;

  const StaticOptions* options_;
  semantics::ContentCoding coding_;
  bool has_siblings_;
  int64_t now_seconds_;
  std::vector<const HeaderRule*> rules_;  // One for each name.
  std::string etag_;                      // Empty: no such field.
  std::string last_modified_;             // The same.
  std::string type_;
};

}  // namespace httpsys::static_files
