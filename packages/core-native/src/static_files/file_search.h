#pragma once
// Decides which files are tried for a request, and in which order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "files/file_calls.h"
#include "semantics/content_coding.h"
#include "static_files/request_path.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

enum class SearchStatus : uint8_t {
  kTry,       // The caller opens path() and reports its kind.
  kFound,     // path() is a regular file.
  kRedirect,  // The request names a folder without its final slash: 301.
  kNotFound,  // 404.
  kFailed,    // 500: the file system refuses, or has an error.
};

// Returns true if an errno means that there is no file to serve at the path (404, not 500).
bool IsNotFound(int error);

// Names one path after another; the caller opens each and reports its kind. The search opens
// nothing itself, so its caller can wait for a slow disk on another thread:
//
//   FileSearch search(&options, path);
//   while (search.status() == SearchStatus::kTry) search.Report(opened.error, opened.facts.kind);
//
// A path without a final slash is tried unchanged; if it does not exist and has no extension, with
// each extension of the options. For a path with a final slash, the index names are tried in its
// folder. Folders with such names are skipped, as in serve-static. Thread: any, one at a time.
class FileSearch {
 public:
  // The options must outlive this object. `path` must have status kValid.
  FileSearch(const StaticOptions* options, const RequestPath& path);

  SearchStatus status() const { return status_; }
  const std::string& path() const { return path_; }

  // Reports the result of opening path(): an errno, or 0 and the file's kind. Only with kTry.
  void Report(int error, files::FileKind kind);

 private:
  enum class Step : uint8_t { kItself, kExtensions, kIndex };

  void ReportItself(int error, files::FileKind kind);
  // Continues with the next path of the list; after the last one, ends with its error.
  void TryNext(int error);
  void Fail(int error);

  const StaticOptions* options_;
  std::string base_;  // The path of the request.
  std::string path_;
  SearchStatus status_ = SearchStatus::kTry;
  Step step_ = Step::kItself;
  size_t next_ = 0;  // Index in the list of the current step.
};

// Returns the path of the file's sibling for a coding, such as `a.js.br`. Not for kIdentity.
[[nodiscard]] std::string SiblingPath(std::string_view path, semantics::ContentCoding coding);

}  // namespace httpsys::static_files
