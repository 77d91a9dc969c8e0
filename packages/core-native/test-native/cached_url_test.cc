#include "engine/cache/cached_url.h"

#include <gtest/gtest.h>

#include <string_view>

namespace httpsys::engine {
namespace {

cache::KeyParts Key(std::string_view host, std::string_view target, bool is_secure = false) {
  return {{is_secure, 70'000}, host, target};
}

bool Matches(std::string_view url, const cache::KeyParts& key, bool is_recursive = false) {
  CachedUrlPattern pattern;
  EXPECT_TRUE(pattern.Parse(url)) << url;
  pattern.is_recursive = is_recursive;
  return pattern.Matches(key);
}

TEST(CachedUrlTest, HasTheHostOfTheRequestAsReceived) {
  EXPECT_EQ(CachedUrl(Key("A.example:8080", "/a?b")), "http://A.example:8080/a?b");
  EXPECT_EQ(CachedUrl(Key("a.example", "/", true)), "https://a.example/");
  EXPECT_EQ(CachedUrl(Key("a.example", "http://a.example/a?b")), "http://a.example/a?b");
  EXPECT_EQ(CachedUrl(Key("a.example", "http://a.example")), "http://a.example/");
}

TEST(CachedUrlTest, ReadsAbsoluteUrlsOnly) {
  CachedUrlPattern pattern;
  for (const std::string_view url : {"", "/a", "a.example/a", "ftp://a.example/", "http://"}) {
    EXPECT_FALSE(pattern.Parse(url)) << url;
  }
}

TEST(CachedUrlTest, MatchesOneUrl) {
  EXPECT_TRUE(Matches("http://a.example/a", Key("A.Example", "/a")));
  EXPECT_TRUE(Matches("http://a.example", Key("a.example:80", "/")));
  EXPECT_FALSE(Matches("http://a.example/a", Key("a.example", "/a?b")));
  EXPECT_FALSE(Matches("http://a.example/a", Key("a.example", "/A")));
  EXPECT_FALSE(Matches("http://a.example/a", Key("b.example", "/a")));
  EXPECT_FALSE(Matches("http://a.example/a", Key("a.example", "/a", true)));
  EXPECT_TRUE(Matches("http://a.example:8080/a", Key("a.example:8080", "/a")));
  EXPECT_FALSE(Matches("http://a.example:8080/a", Key("a.example:8081", "/a")));
  EXPECT_TRUE(Matches("http://[::1]:8080/a", Key("[::1]:8080", "/a")));
}

TEST(CachedUrlTest, MatchesEveryHostForAWildcard) {
  EXPECT_TRUE(Matches("http://*:8080/a", Key("whatever:1", "/a")));
  EXPECT_TRUE(Matches("http://+/a", Key("b.example", "/a")));
}

TEST(CachedUrlTest, MatchesWhatIsBelowAUrlByItsSegments) {
  for (const std::string_view below : {"/a", "/a/b", "/a?b"}) {
    EXPECT_TRUE(Matches("http://a.example/a", Key("a.example", below), true)) << below;
  }
  EXPECT_FALSE(Matches("http://a.example/a", Key("a.example", "/ab"), true));
  EXPECT_TRUE(Matches("http://a.example/a/", Key("a.example", "/a/b"), true));
  EXPECT_FALSE(Matches("http://a.example/a/", Key("a.example", "/a"), true));
  EXPECT_TRUE(Matches("http://a.example/", Key("a.example", "/b"), true));
}

}  // namespace
}  // namespace httpsys::engine
