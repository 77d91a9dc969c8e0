#include "url/url_path.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace httpsys {
namespace {

std::string Escaped(int byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'%', kDigits[static_cast<size_t>(byte / 16)], kDigits[static_cast<size_t>(byte % 16)]};
}

// "ASP.NET" says that a vector is one of RequestTests.cs of ASP.NET Core's tests for HTTP.SYS,
// which run on it.

TEST(IsStrictTarget, AnIncompleteEscapeIsRefused) {
  // ASP.NET: Request_MalformedPathReturns400StatusCode, Request_PathDecodingInvalidUTF8.
  for (const char* target : {"/path%", "/path%XY", "/path%F", "/%%32", "/%%20", "/%", "/%%", "/%A",
                             "/%Y", "/%4%31", "/%25%", "/%2/", "/%G0", "/%0G", "/% 41"}) {
    EXPECT_FALSE(IsStrictTarget(target)) << target;
  }
}

TEST(IsStrictTarget, Utf8IsTaken) {
  // ASP.NET: Request_PathDecodingValidUTF8.
  for (const char* target : {"/",
                             "/a",
                             "/%D0%A4",
                             "/%d0%a4",
                             "/%E0%A4%AD",
                             "/%e0%A4%Ad",
                             "/%F0%A4%AD%A2",
                             "/%F0%a4%Ad%a2",
                             "/%48%65%6C%6C%6F%20%57%6F%72%6C%64",
                             "/%C2%80",
                             "/%E0%A0%80",
                             "/%F0%90%80%80",
                             "/%63",
                             "/%32",
                             "/%20",
                             "/%C3%84ra%20Benetton",
                             "/%2F",
                             "/foo%2Fbar",
                             "/foo%2F%20bar",
                             "/%252F",
                             "/%EF%BF%BF",
                             "/%F4%8F%BF%BF",
                             "/%C2%81%C2%8D%C2%8F%C2%90"}) {
    EXPECT_TRUE(IsStrictTarget(target)) << target;
  }
}

TEST(IsStrictTarget, WhatIsNotUtf8IsReadInWindows1252) {
  // ASP.NET: Request_OverlongUTF8Path.
  for (const char* target : {"/%C0%A4", "/%C1%BF", "/%E0%80%AF", "/%E0%9F%BF", "/%F0%80%80%AF",
                             "/%F0%80%BF%BF", "/%C0%A4%32", "/%32%C0%A4%32", "/%C0%32%A4", "/%FF",
                             "/%80", "/%C3", "/%C3/%A4", "/%ED%A0%80", "/%F4%92%80%80"}) {
    EXPECT_TRUE(IsStrictTarget(target)) << target;
  }
  // ASP.NET: the one overlong sequence of Request_PathDecodingInvalidUTF8.
  EXPECT_FALSE(IsStrictTarget("/%F0%8F%8F%BF"));
  // What has no meaning there has none alone either, nor in a path with valid UTF-8 around it.
  for (const int byte : {0x81, 0x8D, 0x8F, 0x90, 0x9D}) {
    EXPECT_FALSE(IsStrictTarget("/" + Escaped(byte))) << byte;
    EXPECT_FALSE(IsStrictTarget("/%C3%84/" + Escaped(byte))) << byte;
    EXPECT_FALSE(IsStrictTarget("/%D0" + Escaped(byte) + "/%FF")) << byte;
    EXPECT_TRUE(IsStrictTarget("/%D0" + Escaped(byte))) << byte;
  }
  for (const char* target : {"/%C3%8F%8F", "/%D0/%8F", "/%D0a%8F", "/%E2%81", "/%ED%A0%81",
                             "/%D0%u0041%8F", "/%8F%C3%84"}) {
    EXPECT_FALSE(IsStrictTarget(target)) << target;
  }
}

TEST(IsStrictTarget, EscapedControlCharactersAreRefusedNothingElseOfAscii) {
  // ASP.NET: Request_EscapedControlCharacters_400, Request_UrlUnescaping.
  for (int byte = 0; byte < 0x80; byte++) {
    EXPECT_EQ(IsStrictTarget("/a" + Escaped(byte)), byte >= 0x20 && byte != 0x7F) << byte;
  }
}

TEST(IsStrictTarget, TheNotationOfUtf16Units) {
  EXPECT_TRUE(IsStrictTarget("/%u00e9"));
  EXPECT_TRUE(IsStrictTarget("/%u0041%uD83C/x"));
  for (const char* target :
       {"/%u", "/%u00e", "/%u00g9", "/%u001F", "/%u007f", "/%u0000", "/%U0041", "/%u 041"}) {
    EXPECT_FALSE(IsStrictTarget(target)) << target;
  }
}

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all.append(text);
  return all;
}

TEST(IsStrictTarget, ASegmentHasAtMost260Characters) {
  for (const char* one : {"a", "%41", "%C3%84", "%E0%A4%AD", "%u00e9", "%FF", "%2F"}) {
    EXPECT_TRUE(IsStrictTarget("/x/" + Repeated(one, 260) + "/y?" + Repeated(one, 300))) << one;
    EXPECT_FALSE(IsStrictTarget("/x/" + Repeated(one, 261) + "/y")) << one;
    EXPECT_FALSE(IsStrictTarget("http://host/" + Repeated(one, 261))) << one;
  }
  // Two units of UTF-16.
  EXPECT_TRUE(IsStrictTarget("/" + Repeated("%F0%90%80%80", 130)));
  EXPECT_FALSE(IsStrictTarget("/" + Repeated("%F0%90%80%80", 130) + "a"));
}

TEST(IsStrictTarget, APathHasAtMost255Segments) {
  EXPECT_TRUE(IsStrictTarget(Repeated("/a", 255)));
  EXPECT_TRUE(IsStrictTarget(Repeated("/a", 255) + "/"));
  EXPECT_FALSE(IsStrictTarget(Repeated("/a", 256)));
  EXPECT_FALSE(IsStrictTarget(Repeated("/", 257)));
  EXPECT_TRUE(IsStrictTarget("/?" + Repeated("/a", 300)));
}

TEST(IsStrictTarget, TheFormsOfATarget) {
  EXPECT_TRUE(IsStrictTarget("*"));
  EXPECT_FALSE(IsStrictTarget("*%"));
  EXPECT_TRUE(IsStrictTarget("host:443"));
  // ASP.NET: Request_FullUriInRequestLine_ParsesPath and ...WithSlashesInQuery_BlockedByHttpSys.
  EXPECT_TRUE(IsStrictTarget("http://localhost:5001"));
  EXPECT_TRUE(IsStrictTarget("http://localhost:5001/"));
  EXPECT_FALSE(IsStrictTarget("http://localhost:5001?query=value/1/2"));
  EXPECT_FALSE(IsStrictTarget("http://localhost:5001?"));
  EXPECT_TRUE(IsStrictTarget("http://localhost:5001/?query=value/1/2"));
  EXPECT_FALSE(IsStrictTarget("http://localhost:5001/%"));
  EXPECT_TRUE(IsStrictTarget("/?http://h?x"));
}

TEST(IsStrictTarget, TheQueryIsNotLookedAt) {
  EXPECT_TRUE(IsStrictTarget("/?%"));
  EXPECT_TRUE(IsStrictTarget("/a?%XY%00%8F"));
  EXPECT_FALSE(IsStrictTarget("/%?a"));
  EXPECT_FALSE(IsStrictTarget("/%4?1"));
}

// As the engine compares, and JavaScript is told: what is taken is not changed by that.
TEST(DecodePath, OverlongFormsStayAsTheyAre) {
  EXPECT_EQ(DecodePath("/%C0%A4%32"), "/%C0%A42");
  EXPECT_EQ(DecodePath("/%F0%8F%8F%BF"), "/%F0%8F%8F%BF");
  EXPECT_EQ(DecodePath("/%E0%9F%BF"), "/%E0%9F%BF");
  EXPECT_EQ(DecodePath("/%ED%A0%80"), "/%ED%A0%80");
  EXPECT_EQ(DecodePath("/%F4%90%80%80"), "/%F4%90%80%80");
  EXPECT_EQ(DecodePath("/%F0%90%80%80%C3%84"), "/\xF0\x90\x80\x80\xC3\x84");
  EXPECT_EQ(DecodePath("/%C3%"), "/%C3%");
  EXPECT_EQ(DecodePath("/%C3%84%C3"), "/\xC3\x84%C3");
  EXPECT_EQ(DecodePath("/%C3/%84"), "/%C3/%84");
  EXPECT_EQ(DecodePath("/%252F%2f%2F"), "/%2F%2f%2F");
}

TEST(HasOnlyUtf8Escapes, TheEscapesOfAPathAreWholeCharacters) {
  for (const char* path :
       {"", "/", "/a", "/%41", "/%C3%84", "/%F0%90%80%80/%E0%A4%AD", "/%2F%00%25"}) {
    EXPECT_TRUE(HasOnlyUtf8Escapes(path)) << path;
  }
  for (const char* path :
       {"%", "/%4", "/%zz", "/%u0041", "/%C3", "/%C3/%84", "/%C3a%84", "/%C0%AF", "/%E0%80%AF",
        "/%ED%A0%80", "/%F4%90%80%80", "/%84", "/%FF", "/%C3%84%", "/%C3%C3%84", "/%C3%25%84"}) {
    EXPECT_FALSE(HasOnlyUtf8Escapes(path)) << path;
  }
}

TEST(HasOnlyUtf8Escapes, DecodePathThenLeavesNoEscapeButThatOfASlash) {
  for (int first = 0; first < 256; first++) {
    for (int second = 0; second < 256; second++) {
      const std::string path = "/" + Escaped(first) + Escaped(second);
      if (first == '%' || second == '%' || first == '/' || second == '/') continue;
      EXPECT_EQ(HasOnlyUtf8Escapes(path), DecodePath(path).find('%') == std::string::npos) << path;
    }
  }
}

TEST(IsStrictTarget, TimeIsLinear) {
  const auto took = [](std::string_view piece, size_t count) {
    std::string path = "/";
    for (size_t i = 0; i < count; i++) path += piece;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(IsStrictTarget(path));  // Looked at as a whole, and then too long.
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  // Ten megabytes are an instant; with the square of it they would be hours.
  for (const char* piece : {"%C3%84", "%FF", "%F0%9F", "a", "%u00e9"}) {
    EXPECT_LT(took(piece, 2'000'000), 20) << piece;
  }
}

}  // namespace
}  // namespace httpsys
