#include "static_files/file_search.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>

#include "static_files/request_path.h"

namespace httpsys::static_files {
namespace {

using semantics::ContentCoding;

struct Entry {
  int error = 0;
  files::FileKind kind = files::FileKind::kFile;
};
using Files = std::map<std::string, Entry>;

const Entry kFolder{0, files::FileKind::kFolder};
const Entry kFile{};

// The paths that were tried, and how the search ended.
std::string Search(const StaticOptions& options, std::string_view path, const Files& files) {
  const RequestPath read = ReadRequestPath(path, 1);
  EXPECT_EQ(read.status, PathStatus::kValid);
  FileSearch search(&options, read);
  std::string tried;
  while (search.status() == SearchStatus::kTry) {
    tried += search.path() + " ";
    const auto found = files.find(search.path());
    const Entry entry =
        found == files.end() ? Entry{ENOENT, files::FileKind::kOther} : found->second;
    search.Report(entry.error, entry.kind);
  }
  switch (search.status()) {
    case SearchStatus::kFound:
      return tried + "found";
    case SearchStatus::kRedirect:
      return tried + "301";
    case SearchStatus::kNotFound:
      return tried + "404";
    case SearchStatus::kFailed:
      return tried + "500";
    case SearchStatus::kTry:
      break;
  }
  return "unfinished";
}

TEST(FileSearch, AFileIsTriedAsItIs) {
  EXPECT_EQ(Search({}, "/a.txt", {{"a.txt", kFile}}), "a.txt found");
  EXPECT_EQ(Search({}, "/sub/a", {{"sub/a", kFile}}), "sub/a found");
  EXPECT_EQ(Search({}, "/a.txt", {}), "a.txt 404");
}

TEST(FileSearch, AFolderWithoutItsSlashIsRedirected) {
  StaticOptions options;
  EXPECT_EQ(Search(options, "/sub", {{"sub", kFolder}}), "sub 301");
  options.redirect = false;
  EXPECT_EQ(Search(options, "/sub", {{"sub", kFolder}}), "sub 404");
}

TEST(FileSearch, TheRootWithoutTheSlashOfItsPrefixIsRedirected) {
  const StaticOptions options;
  FileSearch search(&options, ReadRequestPath("/files", 7));
  EXPECT_EQ(search.path(), "");
  search.Report(0, files::FileKind::kFolder);
  EXPECT_EQ(search.status(), SearchStatus::kRedirect);
}

TEST(FileSearch, AFinalSlashMeansAnIndexFile) {
  StaticOptions options;
  EXPECT_EQ(Search(options, "/", {{"index.html", kFile}}), "index.html found");
  EXPECT_EQ(Search(options, "/sub/", {{"sub/index.html", kFile}}), "sub/index.html found");
  EXPECT_EQ(Search(options, "/sub/", {}), "sub/index.html 404");
  options.index = {"default.htm", "index.html"};
  EXPECT_EQ(Search(options, "/", {{"index.html", kFile}}), "default.htm index.html found");
  EXPECT_EQ(Search(options, "/", {{"default.htm", kFolder}, {"index.html", kFile}}),
            "default.htm index.html found");
  EXPECT_EQ(Search(options, "/", {{"default.htm", kFolder}, {"index.html", kFolder}}),
            "default.htm index.html 404");
  options.index.clear();
  EXPECT_EQ(Search(options, "/sub/", {{"sub", kFolder}}), "404");
}

TEST(FileSearch, AFileWithAFinalSlashIsNotFound) {
  EXPECT_EQ(Search({}, "/a.txt/", {{"a.txt", kFile}, {"a.txt/index.html", {ENOTDIR, {}}}}),
            "a.txt/index.html 404");
}

TEST(FileSearch, ExtensionsAreTriedForANameWithoutOne) {
  StaticOptions options;
  options.extensions = {"html", "htm"};
  EXPECT_EQ(Search(options, "/a", {{"a.htm", kFile}}), "a a.html a.htm found");
  EXPECT_EQ(Search(options, "/a", {{"a", kFile}, {"a.html", kFile}}), "a found");
  EXPECT_EQ(Search(options, "/a", {{"a.html", kFolder}, {"a.htm", kFile}}), "a a.html a.htm found");
  EXPECT_EQ(Search(options, "/a", {}), "a a.html a.htm 404");
  EXPECT_EQ(Search(options, "/a", {{"a", kFolder}, {"a.html", kFile}}), "a 301");
  EXPECT_EQ(Search(options, "/a.b", {{"a.b.html", kFile}}), "a.b 404");
  EXPECT_EQ(Search(options, "/a.", {{"a..html", kFile}}), "a. 404");
  EXPECT_EQ(Search(options, "/.a", {{".a.html", kFile}}), ".a .a.html found");
  EXPECT_EQ(Search(options, "/b.c/a", {{"b.c/a.html", kFile}}), "b.c/a b.c/a.html found");
  EXPECT_EQ(Search(options, "/a/", {{"a.html", kFile}}), "a/index.html 404");
  EXPECT_EQ(Search(options, "/a", {{"a", {ENOTDIR, {}}}, {"a.html", kFile}}), "a 404");
}

TEST(FileSearch, WhatIsNoRegularFileIsNotFound) {
  EXPECT_EQ(Search({}, "/fifo", {{"fifo", {0, files::FileKind::kOther}}}), "fifo 404");
}

TEST(FileSearch, ErrorsOfTheFileSystem) {
  for (const int error : {ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, EXDEV, ENXIO, ENODEV}) {
    EXPECT_EQ(Search({}, "/a.txt", {{"a.txt", {error, {}}}}), "a.txt 404") << error;
  }
  for (const int error : {EACCES, EPERM, EIO, EMFILE, EAGAIN}) {
    EXPECT_EQ(Search({}, "/a.txt", {{"a.txt", {error, {}}}}), "a.txt 500") << error;
    EXPECT_EQ(Search({}, "/", {{"index.html", {error, {}}}}), "index.html 500") << error;
  }
}

TEST(SiblingPath, TheSuffixOfACoding) {
  EXPECT_EQ(SiblingPath("sub/a.js", ContentCoding::kBr), "sub/a.js.br");
  EXPECT_EQ(SiblingPath("sub/a.js", ContentCoding::kZstd), "sub/a.js.zst");
  EXPECT_EQ(SiblingPath("sub/a.js", ContentCoding::kGzip), "sub/a.js.gz");
}

TEST(ExtensionOf, AsInNode) {
  EXPECT_EQ(ExtensionOf("a.txt"), ".txt");
  EXPECT_EQ(ExtensionOf("a.b.c"), ".c");
  EXPECT_EQ(ExtensionOf("b.c/a"), "");
  EXPECT_EQ(ExtensionOf(".a"), "");
  EXPECT_EQ(ExtensionOf(".a.b"), ".b");
  EXPECT_EQ(ExtensionOf("a."), ".");
  EXPECT_EQ(ExtensionOf(""), "");
}

}  // namespace
}  // namespace httpsys::static_files
