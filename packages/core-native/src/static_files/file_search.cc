#include "static_files/file_search.h"

#include <array>
#include <cerrno>

#include "base/check.h"

namespace httpsys::static_files {

// ELOOP and EXDEV: links are refused, or a link leads out of the root. ENXIO and ENODEV: the path
// names a pipe, a socket or a device.
bool IsNotFound(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP ||
         error == EXDEV || error == ENXIO || error == ENODEV;
}

FileSearch::FileSearch(const StaticOptions* options, const RequestPath& path)
    : options_(options), base_(path.relative), path_(base_) {
  if (!path.has_final_slash) return;
  step_ = Step::kIndex;
  TryNext(0);
}

void FileSearch::Report(int error, files::FileKind kind) {
  HTTPSYS_CHECK(status_ == SearchStatus::kTry);
  if (error == 0 && kind == files::FileKind::kFile) {
    status_ = SearchStatus::kFound;
  } else if (step_ == Step::kItself) {
    ReportItself(error, kind);
  } else {
    TryNext(error);
  }
}

void FileSearch::ReportItself(int error, files::FileKind kind) {
  if (error == ENOENT && ExtensionOf(base_).empty()) {
    step_ = Step::kExtensions;
    TryNext(error);
  } else if (error == 0 && kind == files::FileKind::kFolder && options_->redirect) {
    status_ = SearchStatus::kRedirect;
  } else {
    Fail(error);
  }
}

void FileSearch::TryNext(int error) {
  const bool is_index = step_ == Step::kIndex;
  const auto& names = is_index ? options_->index : options_->extensions;
  if (next_ == names.size()) {
    Fail(error);
    return;
  }
  path_ = base_;
  if (!is_index) {
    path_ += '.';
  } else if (!path_.empty()) {
    path_ += '/';
  }
  path_ += names[next_++];
}

void FileSearch::Fail(int error) {
  status_ = error == 0 || IsNotFound(error) ? SearchStatus::kNotFound : SearchStatus::kFailed;
}

std::string SiblingPath(std::string_view path, semantics::ContentCoding coding) {
  constexpr std::array<std::string_view, semantics::kContentCodings> kSuffixes = {".br", ".zst",
                                                                                  ".gz", ""};
  HTTPSYS_CHECK(coding != semantics::ContentCoding::kIdentity);
  std::string sibling(path);
  sibling += kSuffixes[static_cast<size_t>(coding)];
  return sibling;
}

}  // namespace httpsys::static_files
