#pragma once
// The header fields of a response with a file.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/file_calls.h"
#include "semantics/content_coding.h"
#include "semantics/preconditions.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

void AppendField(std::string_view name, std::string_view value, std::string* fields);

// Returns the time of the last change in milliseconds, rounded as stock Node's `stat.mtime` is.
[[nodiscard]] int64_t ModifiedMs(const files::FileFacts& facts);

// Returns false for modification times in the first two seconds of 1970. Nix and tools for
// reproducible images give these to every file, so all files of a size would have the same
// validators.
[[nodiscard]] bool HasRealTime(const files::FileFacts& facts);

// Returns the entity tag that `send` makes for a file: `W/"size-mtime"`, both in hexadecimal. The
// tag of a coding ends with the coding's name, so it always differs from the tag of the file.
[[nodiscard]] std::string MakeEtag(const files::FileFacts& facts, semantics::ContentCoding coding);

// The header fields of one file in one coding: the fields of the header rules, and the fields that
// the options add where no rule sets them.
class FileFields {
 public:
  // `path` is the path of the plain file, even if a coding is sent. `has_siblings`: the coding
  // depends on the request. Options and path must outlive this object. `now_seconds` limits the
  // modification time: Last-Modified must not be after Date (RFC 9110, 8.8.2.1).
  FileFields(const StaticOptions* options, std::string_view path, const files::FileFacts& facts,
             semantics::ContentCoding coding, bool has_siblings, int64_t now_seconds);

  // Returns the validators with which preconditions are compared. They view this object.
  [[nodiscard]] semantics::Validators validators() const;
  [[nodiscard]] std::string_view type() const { return type_; }

  // Appends the fields of every response with the file or about it, including 304.
  void AppendCommon(std::string* fields) const;
  // Appends the fields for responses with content: Content-Encoding and Content-Language. The
  // caller appends the type and the length.
  void AppendOfContent(std::string* fields) const;
  // Appends Vary if the coding depends on the request.
  void AppendVary(std::string* fields) const;

 private:
  [[nodiscard]] const HeaderRule* FindRule(std::string_view lower_name) const;

  const StaticOptions* options_;
  semantics::ContentCoding coding_;
  bool has_siblings_;
  int64_t now_seconds_;
  std::vector<const HeaderRule*> rules_;  // One for each name.
  std::string etag_;                      // Empty = no such field.
  std::string last_modified_;             // Empty = no such field.
  std::string type_;
};

}  // namespace httpsys::static_files
