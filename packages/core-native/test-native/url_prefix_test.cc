#include "url/url_prefix.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

#include "url/url_path.h"

namespace httpsys {
namespace {

UrlPrefix Parse(std::string_view text) {
  UrlPrefix prefix;
  EXPECT_EQ(ParseUrlPrefix(text, &prefix), PrefixError::kNone) << text;
  return prefix;
}

PrefixError ErrorOf(std::string_view text) {
  UrlPrefix prefix;
  return ParseUrlPrefix(text, &prefix);
}

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
}

TEST(UrlPrefix, ReadsSchemeHostPortAndPath) {
  const UrlPrefix prefix = Parse("https://App.Test:8443/Shop/cart/");
  EXPECT_TRUE(prefix.is_https);
  EXPECT_EQ(prefix.host_kind, HostKind::kExplicit);
  EXPECT_FALSE(prefix.is_subdomain_wildcard);
  EXPECT_EQ(prefix.host, "app.test");
  EXPECT_EQ(prefix.port, 8443);
  EXPECT_EQ(prefix.path, "/Shop/cart/");
}

TEST(UrlPrefix, TellsTheHostKindsApart) {
  EXPECT_EQ(Parse("http://+:80/").host_kind, HostKind::kStrongWildcard);
  EXPECT_EQ(Parse("http://*:80/").host_kind, HostKind::kWeakWildcard);
  EXPECT_EQ(Parse("http://localhost:80/").host_kind, HostKind::kExplicit);
  EXPECT_EQ(Parse("http://127.0.0.1:80/").host_kind, HostKind::kIpBound);
  EXPECT_EQ(Parse("http://[::1]:80/").host_kind, HostKind::kIpBound);
  const UrlPrefix subdomains = Parse("http://*.Shop.test:80/");
  EXPECT_EQ(subdomains.host_kind, HostKind::kExplicit);
  EXPECT_TRUE(subdomains.is_subdomain_wildcard);
  EXPECT_EQ(subdomains.host, "shop.test");
}

TEST(UrlPrefix, AMappedIpv4AddressIsTheIpv4Address) {
  EXPECT_EQ(Parse("http://[::ffff:127.0.0.2]:80/").ip, Parse("http://127.0.0.2:80/").ip);
  EXPECT_EQ(Parse("http://[::FFFF:7f00:2]:80/").ip, Parse("http://127.0.0.2:80/").ip);
}

TEST(UrlPrefix, ThePathIsDecodedAndDotFree) {
  EXPECT_EQ(Parse("http://*:80/base%20path/").path, "/base path/");
  EXPECT_EQ(Parse("http://*:80/base path/").path, "/base path/");
  EXPECT_EQ(Parse("http://*:80/caf%C3%A9/").path, "/café/");
  EXPECT_EQ(Parse("http://*:80/a/../b/./c/").path, "/b/c/");
  EXPECT_EQ(Parse("http://*:80/a%2Fb/").path, "/a%2Fb/");
}

TEST(UrlPrefix, RefusesWhatTheRawFormForbids) {
  EXPECT_EQ(ErrorOf("http://h/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("http://h:080/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("HTTP://h:80/"), PrefixError::kScheme);
  EXPECT_EQ(ErrorOf("http://h:80/x"), PrefixError::kPath);
  EXPECT_EQ(ErrorOf("http://h:80"), PrefixError::kPath);
  EXPECT_EQ(ErrorOf("http://:80/"), PrefixError::kHost);
  EXPECT_EQ(ErrorOf("ftp://h:80/"), PrefixError::kScheme);
  EXPECT_EQ(ErrorOf("http://h:70000/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("http://h:4294967376/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("http://h:0/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("http://h:*/"), PrefixError::kPort);
  EXPECT_EQ(ErrorOf("http://h:80x/"), PrefixError::kPort);
}

TEST(UrlPrefix, RefusesWhatAspNetRefuses) {
  const char* const texts[] = {"",
                               "5000",
                               "//noscheme",
                               "://emptyscheme",
                               "://",
                               "://:5000",
                               "http://",
                               "http://:5000",
                               "http:///",
                               "http:///:5000",
                               "http:////",
                               "http:////:5000",
                               "http://www.example.com:NOTAPORT",
                               "http://foo:$SCRATCH/httpsys-test.sock:5000/doesn't/matter"};
  for (const char* text : texts) EXPECT_NE(ErrorOf(text), PrefixError::kNone) << text;
}

TEST(UrlPrefix, RefusesHostsThatNoRequestCanName) {
  const char* const hosts[] = {
      "a..b",       ".a",         "a.",  "-*",          "a*b",   "*a",
      "*.",         "**",         "++",  "1.2.3.256",   "1.2.3", "5000",
      "01.2.3.4",   "a b",        "a@b", "caf\xC3\xA9", "[::1",  "[]",
      "[1.2.3.4]",  "[::1%eth0]", "::1", "0.0.0.0",     "[::]",  "[::ffff:0.0.0.0]",
      "*.127.0.0.1"};
  for (const std::string host : hosts) {
    EXPECT_EQ(ErrorOf("http://" + host + ":80/"), PrefixError::kHost) << host;
  }
  EXPECT_EQ(ErrorOf("http://" + std::string(64, 'a') + ":80/"), PrefixError::kHost);
  EXPECT_EQ(ErrorOf("http://" + std::string(63, 'a') + ":80/"), PrefixError::kNone);
}

TEST(UrlPrefix, RefusesPathsThatNoRequestCanHave) {
  EXPECT_EQ(ErrorOf("http://*:80/a?b/"), PrefixError::kPath);
  EXPECT_EQ(ErrorOf("http://*:80/a#b/"), PrefixError::kPath);
  EXPECT_EQ(ErrorOf("http://*:80/a\nb/"), PrefixError::kPath);
  const std::string longest = "http://*:80/" + std::string(kPrefixPathBytesMax - 2, 'a') + "/";
  EXPECT_EQ(ErrorOf(longest), PrefixError::kNone);
  EXPECT_EQ(ErrorOf(longest + "a/"), PrefixError::kPath);
}

TEST(UrlPrefix, ReadsAddressesAsInetPtonDoes) {
  const char* const texts[] = {"::",
                               "::1",
                               "1::",
                               "1:2:3:4:5:6:7:8",
                               "1:2:3:4:5:6:7::",
                               "::2:3:4:5:6:7:8",
                               "1::8",
                               "a:B::f",
                               "fe80::1:2:3:4",
                               "1:2:3:4:5:6:7:8:9",
                               "1:2:3:4:5:6:7",
                               "1:::2",
                               ":::",
                               ":",
                               "1:",
                               ":1",
                               "1::2::3",
                               "12345::",
                               "g::",
                               "1:2:3:4:5:6:7:8::",
                               "::1:2:3:4:5:6:7:8",
                               "::ffff:1.2.3.4",
                               "1.2.3.4::",
                               "::1.2.3.4",
                               "1:2:3:4:5:6:1.2.3.4",
                               "1:2:3:4:5:6:7:1.2.3.4",
                               "::1.2.3",
                               "::1.2.3.4.5",
                               "::1.2.3.4:5",
                               "::1.2.3.256",
                               "",
                               "::1 ",
                               " ::1"};
  for (const char* text : texts) {
    std::array<uint8_t, 16> expected{};
    std::array<uint8_t, 16> actual{};
    const bool valid = inet_pton(AF_INET6, text, expected.data()) == 1;
    ASSERT_EQ(ParseIpAddress(text, &actual), valid) << text;
    EXPECT_TRUE(!valid || actual == expected) << text;
  }
}

TEST(UrlPath, DecodesUtf8AndLeavesTheRest) {
  EXPECT_EQ(DecodePath("/%252F"), "/%2F");
  EXPECT_EQ(DecodePath("/%2f%2F"), "/%2f%2F");
  EXPECT_EQ(DecodePath("/%41%e8%91%89"), "/A葉");
  const char* const literal[] = {"/path%",        "/path%XY",      "/path%F",    "/%",
                                 "/%%",           "/%A",           "/%Y",        "/%C3",
                                 "/%C3%41x",      "/%C0%A4",       "/%C1%BF",    "/%E0%80%AF",
                                 "/%F0%80%80%AF", "/%F0%8F%8F%BF", "/%ED%A0%80", "/%F4%90%80%80",
                                 "/%FF",          "/%80"};
  for (const std::string path : literal) {
    // %41 is an escape of its own whatever stands before it.
    EXPECT_EQ(DecodePath(path), path == "/%C3%41x" ? "/%C3Ax" : path);
  }
  EXPECT_EQ(DecodePath("/%%32"), "/%2");
  EXPECT_EQ(DecodePath("/%%20"), "/% ");
}

TEST(UrlPath, RemovesDotSegmentsAfterDecoding) {
  EXPECT_EQ(DecodePath("/x/../base%20path/y"), "/base path/y");
  EXPECT_EQ(DecodePath("/a/%2e%2E/b"), "/b");
  EXPECT_EQ(DecodePath("/a/..%2Fb"), "/a/..%2Fb");
  EXPECT_EQ(DecodePath("/.."), "/");
  EXPECT_EQ(DecodePath("/../../a"), "/a");
  EXPECT_EQ(DecodePath("/a/."), "/a/");
  EXPECT_EQ(DecodePath("/a/b/.."), "/a/");
  EXPECT_EQ(DecodePath("/a/b/../"), "/a/");
  EXPECT_EQ(DecodePath("/.../.a/a."), "/.../.a/a.");
  EXPECT_EQ(DecodePath("//a//../b"), "//a/b");
}

TEST(UrlPath, PlainMeansThatDecodingChangesNothing) {
  for (const std::string path : {"/", "/a", "/a.b/c..d/", "//", "/\xC3\xA9"}) {
    EXPECT_TRUE(IsPlainPath(path)) << path;
    EXPECT_EQ(DecodePath(path), path);
  }
  for (const std::string path : {"/%", "/a/../b", "/.", "/.well-known"}) {
    EXPECT_FALSE(IsPlainPath(path)) << path;
  }
}

TEST(UrlPath, FoldsLettersThatKeepTheirLength) {
  EXPECT_EQ(Folded("/ABC-xyz_09/"), "/abc-xyz_09/");
  EXPECT_EQ(Folded("CAFÉ ÀÞ×÷ß"), "café àþ×÷ß");
  EXPECT_EQ(Folded("ĀĶĲŁŽŸŊŠ"), "āķĳłžÿŋš");
  EXPECT_EQ(Folded("ΆΈΌΎΏΑΣΩΫς"), "άέόύώασωϋσ");
  EXPECT_EQ(Folded("ЀЏАЯ"), "ѐџая");
  EXPECT_EQ(Folded("葉İı"), "葉İı");
  EXPECT_EQ(Folded("\xC3"), "\xC3");
  EXPECT_EQ(Folded("\xC3\x41\x80\xFF"), "\xC3\x61\x80\xFF");
}

}  // namespace
}  // namespace httpsys
