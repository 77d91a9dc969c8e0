#include <gtest/gtest.h>

#include "engine/cache/cached_url.h"

namespace httpsys::engine {
namespace {

std::string Resolve(std::string_view reference, RequestUrl base = {false, "a.example", "/x/y?q"}) {
  return SameOriginTarget(base, reference).value_or("(other)");
}

TEST(SameOriginTest, ResolvesReferencesOfThePath) {
  EXPECT_EQ(Resolve("/b"), "/b");
  EXPECT_EQ(Resolve("b?c"), "/x/b?c");
  EXPECT_EQ(Resolve("../b"), "/b");
  EXPECT_EQ(Resolve("../../../b"), "/b");
  EXPECT_EQ(Resolve("./b/../c/."), "/x/c/");
  EXPECT_EQ(Resolve("?r"), "/x/y?r");
  EXPECT_EQ(Resolve(""), "/x/y?q");
  EXPECT_EQ(Resolve("#part"), "/x/y?q");
  EXPECT_EQ(Resolve("/b#part"), "/b");
  EXPECT_EQ(Resolve("/a/..b/.c"), "/a/..b/.c");
}

TEST(SameOriginTest, TakesOnlyItsOwnSchemeHostAndPort) {
  EXPECT_EQ(Resolve("http://a.example/b"), "/b");
  EXPECT_EQ(Resolve("HTTP://A.Example:80/b"), "/b");
  EXPECT_EQ(Resolve("//a.example"), "/");
  EXPECT_EQ(Resolve("//a.example?r"), "/?r");
  EXPECT_EQ(Resolve("https://a.example/b"), "(other)");
  EXPECT_EQ(Resolve("http://a.example:81/b"), "(other)");
  EXPECT_EQ(Resolve("http://b.example/b"), "(other)");
  EXPECT_EQ(Resolve("//b.example/b"), "(other)");
  EXPECT_EQ(Resolve("http:b"), "(other)");
  EXPECT_EQ(Resolve("mailto:a@a.example"), "(other)");
  EXPECT_EQ(Resolve("https://a.example/b", {true, "a.example:443", "/"}), "/b");
}

}  // namespace
}  // namespace httpsys::engine
