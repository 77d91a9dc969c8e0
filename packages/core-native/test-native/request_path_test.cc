#include "static_files/request_path.h"

#include <gtest/gtest.h>

#include <string>

#include "url/url_path.h"
#include "url/url_prefix_table.h"

namespace httpsys::static_files {
namespace {

using namespace std::string_view_literals;

// The path below a prefix of the root, "400", "403" or "404".
std::string Read(std::string_view path, size_t prefix_bytes = 1) {
  const RequestPath read = ReadRequestPath(path, prefix_bytes);
  switch (read.status) {
    case PathStatus::kMalformed:
      return "400";
    case PathStatus::kOutside:
      return "403";
    case PathStatus::kTooLong:
      return "404";
    case PathStatus::kValid:
      break;
  }
  return read.relative + (read.has_final_slash ? "/" : "");
}

TEST(ReadRequestPath, APathIsDecodedOnce) {
  EXPECT_EQ(Read("/a.txt"), "a.txt");
  EXPECT_EQ(Read("/sub/a%20b.txt"), "sub/a b.txt");
  EXPECT_EQ(Read("/%C3%84"), "\xC3\x84");
  EXPECT_EQ(Read("/%41%42"), "AB");
  EXPECT_EQ(Read("/%2541"), "%41");
  EXPECT_EQ(Read("/%252e%252e/a"), "%2e%2e/a");
  EXPECT_EQ(Read("/%252f"), "%2f");
  EXPECT_EQ(Read("/%255c"), "%5c");
  EXPECT_EQ(Read("/%2500"), "%00");
  EXPECT_EQ(Read("/a+b;c=d,e:f@g!$&'()*~"), "a+b;c=d,e:f@g!$&'()*~");
}

TEST(ReadRequestPath, AFinalSlashMeansAFolder) {
  EXPECT_EQ(Read("/"), "/");
  EXPECT_EQ(Read("/sub/"), "sub/");
  EXPECT_EQ(Read("/sub//"), "sub/");
  EXPECT_EQ(Read("/sub"), "sub");
  EXPECT_EQ(Read("/sub/."), "sub/");
  EXPECT_EQ(Read("/sub/x/.."), "sub/");
}

TEST(ReadRequestPath, SlashesAreCollapsed) {
  EXPECT_EQ(Read("//a.txt"), "a.txt");
  EXPECT_EQ(Read("///a//b.txt"), "a/b.txt");
  EXPECT_EQ(Read("//"), "/");
}

TEST(ReadRequestPath, DotSegmentsAreRemovedWithinTheRoot) {
  EXPECT_EQ(Read("/sub/../a.txt"), "a.txt");
  EXPECT_EQ(Read("/sub/%2e%2E/a.txt"), "a.txt");
  EXPECT_EQ(Read("/sub/.%2e/a.txt"), "a.txt");
  EXPECT_EQ(Read("/./a/./b/%2e/c"), "a/b/c");
  EXPECT_EQ(Read("/a/b/../../c"), "c");
  EXPECT_EQ(Read("/..a/...b/c.."), "..a/...b/c..");
  EXPECT_EQ(Read("/.../a"), ".../a");
}

TEST(ReadRequestPath, DotSegmentsThatLeaveTheRootAreForbidden) {
  for (const char* path :
       {"/..", "/../", "/../a", "/%2e%2e/a", "/.%2E/a", "/%2e./a", "//../a", "/./../a", "/a/../..",
        "/a/../../a", "/a/../../b/c", "/a//../../b", "/../a/b/c"}) {
    EXPECT_EQ(Read(path), "403") << path;
  }
}

TEST(ReadRequestPath, MalformedPaths) {
  for (const std::string_view path : {"/%"sv,
                                      "/%a"sv,
                                      "/%zz"sv,
                                      "/a%2"sv,
                                      "/%u002e%u002e/a"sv,
                                      "/%C3"sv,
                                      "/%C3/a"sv,
                                      "/%FF"sv,
                                      "/%C0%AE%C0%AE/a"sv,
                                      "/%c0%ae./a"sv,
                                      "/%C0%AF"sv,
                                      "/%E0%80%AE"sv,
                                      "/%e0%80%af"sv,
                                      "/%F0%80%80%AE"sv,
                                      "/%ED%A0%80"sv,
                                      "/%F4%90%80%80"sv,
                                      "/%00"sv,
                                      "/a.txt%00.html"sv,
                                      "/a%2fb"sv,
                                      "/a%2Fb"sv,
                                      "/%2e%2e%2fa"sv,
                                      "/a%5cb"sv,
                                      "/..%5C..%5Ca"sv,
                                      "/a\\b"sv,
                                      "/..\\a"sv,
                                      "/a b"sv,
                                      "/a\tb"sv,
                                      "/a\0b"sv,
                                      "/\x7f"sv,
                                      "/\xC3\x84"sv,
                                      "/\xC3%84"sv}) {
    EXPECT_EQ(Read(path), "400") << path;
  }
}

TEST(ReadRequestPath, DotfilesAreSeenInEverySegment) {
  for (const char* path :
       {"/.env", "/.well-known/x", "/a/.git/config", "/%2eenv", "/..a", "/.../", "/a/.b/"}) {
    EXPECT_TRUE(ReadRequestPath(path, 1).has_dotfile) << path;
  }
  for (const char* path : {"/", "/a.b", "/a./b.", "/./a", "/a/../b", "/.a/../b", "/a/."}) {
    EXPECT_FALSE(ReadRequestPath(path, 1).has_dotfile) << path;
  }
}

TEST(ReadRequestPath, APathBelowAPrefix) {
  constexpr size_t kPrefix = std::string_view("/files/").size();
  EXPECT_EQ(Read("/files/a.txt", kPrefix), "a.txt");
  EXPECT_EQ(Read("/FILES/a.txt", kPrefix), "a.txt");
  EXPECT_EQ(Read("/f%69les/sub/", kPrefix), "sub/");
  EXPECT_EQ(Read("/files//a.txt", kPrefix), "a.txt");
  EXPECT_EQ(Read("/files/", kPrefix), "/");
  EXPECT_EQ(Read("/files", kPrefix), "") << "the folder, without its slash";
  EXPECT_EQ(Read("/x/../files/a.txt", kPrefix), "a.txt");
  EXPECT_EQ(Read("/files/../files/a.txt", kPrefix), "a.txt");
  EXPECT_EQ(Read("/.hidden/../files/a.txt", kPrefix), "a.txt");
  EXPECT_FALSE(ReadRequestPath("/.x/a.txt", 4).has_dotfile) << "a dot in the prefix";
}

// What the table matches is what the path is cut from.
TEST(ReadRequestPath, ThePrefixIsMatchedOnTheSameString) {
  UrlPrefix prefix;
  ASSERT_EQ(ParseUrlPrefix("http://*:80/b%C3%84/files/", &prefix), PrefixError::kNone);
  UrlPrefixTable table;
  ASSERT_TRUE(table.Add(prefix, 1));
  for (const char* target : {"/b%C3%84/files/a.txt", "/B%c3%A4/FILES/a.txt",
                             "/x/%2e%2e/b%C3%84/./files/a.txt", "http://h/b%C3%84/files/a.txt?x",
                             "/b%C3%84/files/x/../a.txt#y", "/b%C3%84/%66iles/%2e/a.txt"}) {
    ASSERT_EQ(table.Match("h", target, {}).status, RouteStatus::kMatch) << target;
    EXPECT_EQ(Read(SplitTarget(target).path, prefix.path.size()), "a.txt") << target;
  }
  EXPECT_EQ(table.Match("h", "/b%C3%84/files/../a.txt", {}).status, RouteStatus::kNotFound);
  EXPECT_EQ(table.Match("h", "/b%C3%84/files/%2e%2e/a.txt", {}).status, RouteStatus::kNotFound);
}

TEST(ReadRequestPath, LongPathsNameNoFile) {
  const std::string longest(kFilePathBytesMax, 'a');
  EXPECT_EQ(Read("/" + longest), longest);
  EXPECT_EQ(Read("/" + longest + "a"), "404");
  EXPECT_EQ(Read("/" + std::string(kRequestPathBytesMax, 'a')), "404");
  EXPECT_EQ(Read(std::string(kRequestPathBytesMax - 1, '/') + "a"), "a");
  EXPECT_EQ(Read(std::string(kRequestPathBytesMax, '/') + "a"), "404");
}

}  // namespace
}  // namespace httpsys::static_files
