#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "static_files/static_options.h"

namespace httpsys::static_files {
namespace {

bool Matches(std::string pattern, std::string_view path) {
  return IsRuleFor({.pattern = std::move(pattern), .name = "X", .value = "y"}, path);
}

TEST(HeaderRules, APatternThatBeginsWithADotIsTheEndOfAName) {
  EXPECT_TRUE(Matches(".js", "a.js"));
  EXPECT_TRUE(Matches(".js", "sub/a.min.js"));
  EXPECT_TRUE(Matches(".min.js", "sub/a.min.js"));
  EXPECT_FALSE(Matches(".min.js", "sub/a.js"));
  EXPECT_FALSE(Matches(".js", "a.jsx"));
  EXPECT_FALSE(Matches(".js", "a.js/b"));
  EXPECT_FALSE(Matches(".js", ".js")) << "a name, not an extension";
}

TEST(HeaderRules, AGlobWithoutASlashIsForTheName) {
  EXPECT_TRUE(Matches("*.map", "sub/deep/a.js.map"));
  EXPECT_TRUE(Matches("index.html", "index.html"));
  EXPECT_TRUE(Matches("index.html", "sub/index.html"));
  EXPECT_TRUE(Matches("a?c", "sub/abc"));
  EXPECT_TRUE(Matches("*", "sub/x"));
  EXPECT_TRUE(Matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(Matches("a?c", "ac"));
  EXPECT_FALSE(Matches("index.html", "index.htm"));
  EXPECT_FALSE(Matches("sub", "sub/x"));
  EXPECT_FALSE(Matches("INDEX.html", "index.html"));
}

TEST(HeaderRules, AGlobWithASlashIsForThePath) {
  EXPECT_TRUE(Matches("assets/*.js", "assets/a.js"));
  EXPECT_FALSE(Matches("assets/*.js", "assets/sub/a.js"));
  EXPECT_FALSE(Matches("assets/*.js", "x/assets/a.js"));
  EXPECT_FALSE(Matches("assets?a.js", "assets/a.js"));
  EXPECT_TRUE(Matches("assets/**", "assets/a/b/c"));
  EXPECT_FALSE(Matches("assets/**", "assets2/a"));
  EXPECT_TRUE(Matches("assets/**/*.js", "assets/a.js"));
  EXPECT_TRUE(Matches("assets/**/*.js", "assets/x/y/a.js"));
  EXPECT_FALSE(Matches("assets/**/*.js", "assets/x/y/a.css"));
  EXPECT_TRUE(Matches("**/a.js", "a.js"));
  EXPECT_TRUE(Matches("**/a.js", "x/y/a.js"));
  EXPECT_FALSE(Matches("**/a.js", "x/ba.js"));
  EXPECT_FALSE(Matches("x/**/", "x/y"));
}

TEST(HeaderRules, AnEmptyPatternIsForNoFile) { EXPECT_FALSE(Matches("", "a")); }

TEST(HeaderRules, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a**/";
  const std::string path(4000, 'a');
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(Matches(pattern + "b", path));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace httpsys::static_files
