// Input: the path of a request. Traps when a promise of request_path.h is broken, above all when a
// path names something outside of the folder, or another file than the prefix table has seen.

#include <cstdint>
#include <string>
#include <string_view>

#include "pieces.h"
#include "static_files/request_path.h"
#include "url/url_path.h"
#include "url/url_prefix_table.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::static_files::PathStatus;
using httpsys::static_files::ReadRequestPath;
using httpsys::static_files::RequestPath;

std::string Escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    // A slash between segments.
    if (c == '/') {
      escaped += '/';
    } else {
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

void CheckRelative(const RequestPath& read) {
  const std::string& path = read.relative;
  Check(path.size() <= httpsys::static_files::kFilePathBytesMax);
  Check(path.find('\0') == path.npos && path.find('\\') == path.npos);
  Check(path.empty() || (path.front() != '/' && path.back() != '/'));
  const std::string framed = "/" + path + "/";
  Check(framed.find("/../") == framed.npos && framed.find("/./") == framed.npos);
  Check(path.empty() || framed.find("//") == framed.npos);
  Check(read.has_dotfile == (framed.find("/.") != framed.npos));
}

void CheckPath(std::string_view path) {
  const Copy copy(path);
  const RequestPath read = ReadRequestPath(copy.view(), 1);
  if (read.status != PathStatus::kValid) {
    Check(read.relative.empty());
    return;
  }
  CheckRelative(read);
  // Whatever is decoded names itself when it is escaped again, but not when it is decoded twice.
  const std::string again = "/" + Escaped(read.relative) + (read.has_final_slash ? "/" : "");
  if (again.size() <= httpsys::static_files::kRequestPathBytesMax) {
    Check(ReadRequestPath(again, 1).relative == read.relative);
  }
  // Below a prefix are the files whose paths the table finds there.
  static const httpsys::UrlPrefix prefix = [] {
    httpsys::UrlPrefix parsed;
    Check(httpsys::ParseUrlPrefix("http://*:80/p/", &parsed) == httpsys::PrefixError::kNone);
    return parsed;
  }();
  httpsys::UrlPrefixTable table;
  Check(table.Add(prefix, 1));
  if (table.Match("h", path, {}).status != httpsys::RouteStatus::kMatch) return;
  const RequestPath below = ReadRequestPath(path, prefix.path.size());
  Check(below.status == PathStatus::kValid);
  CheckRelative(below);
  const std::string whole = below.relative.empty() ? read.relative.substr(0, 1)
                                                   : read.relative.substr(0, 2) + below.relative;
  Check(whole == read.relative);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string_view path = httpsys::SplitTarget(text).path;
  CheckPath(path);
  CheckPath("/p" + std::string(path));
  return 0;
}
