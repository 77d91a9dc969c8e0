#pragma once
// Which files are tried for a request, and in which order.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "files/file_facts.h"
#include "semantics/content_coding.h"
#include "static_files/request_path.h"
#include "static_files/static_options.h"

namespace httpsys::static_files {

enum class SearchStatus : uint8_t {
  kTry,       // path() is to be opened, and what it is to be reported.
  kFound,     // path() is a regular file.
  kRedirect,  // The request names a folder without its final slash: 301.
  kNotFound,  // 404.
  kFailed,    // 500: the file system refuses, or has an error.
};

// Returns true if an errno says that nothing is there that may be served: 404 and not 500.
bool IsNotFound(int error);

// Names one path after another, and is told what each of them is. It opens nothing itself, so that
// its user can wait for a slow disk elsewhere:
//
//   FileSearch search(&options, path);
//   while (search.status() == SearchStatus::kTry) search.Report(opened.error, opened.facts.kind);
//
// A path without a final slash is tried as it is, and if it does not exist and has no extension,
// with each one of the options. With a final slash the index names are tried in its folder. Folders
// among these are passed over, as in serve-static. Thread: any, one at a time.
class FileSearch {
 public:
  // The options must live as long. `path` is kValid.
  FileSearch(const StaticOptions* options, const RequestPath& path);

  SearchStatus status() const { return status_; }
  const std::string& path() const { return path_; }

  // Says what path() is: an errno and nothing else, or 0 and its kind. Only with kTry.
  void Report(int error, files::FileKind kind);

 private:
  enum class Step : uint8_t { kItself, kExtensions, kIndex };

  void ReportItself(int error, files::FileKind kind);
  // Names the next one of the list, or ends with the error of the last one.
  void TryNext(int error);
  void Fail(int error);

  const StaticOptions* options_;
  std::string base_;  // The path of the request.
  std::string path_;
  SearchStatus status_ = SearchStatus::kTry;
  Step step_ = Step::kItself;
  size_t next_ = 0;  // Index in the list of the step.
};

// Returns the path at which a coding of the file may be: `a.js.br`. Not for kIdentity.
[[nodiscard]] std::string SiblingPath(std::string_view path, semantics::ContentCoding coding);

}  // namespace httpsys::static_files
