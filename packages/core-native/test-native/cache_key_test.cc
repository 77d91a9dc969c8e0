#include "cache/cache_key.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

std::string KeyOf(std::string_view lines = {}, std::string_view target = "/a",
                  KeyScope scope = {false, 80}) {
  const TestRequest request(lines, "GET", target);
  std::string key = "what was there before";
  EXPECT_TRUE(MakeKey(scope, request.head(), &key));
  return key;
}

std::string KeyOfHost(std::string_view host) {
  http1::RequestHead head;
  head.has_host = true;
  head.host = host;
  head.target = "/a";
  std::string key;
  EXPECT_TRUE(MakeKey({}, head, &key));
  return key;
}

TEST(CacheKeyTest, TheSameRequestHasTheSameKey) {
  EXPECT_EQ(KeyOf(), KeyOf("Cookie: a|Accept: b|X-Forwarded-For: c"));
  EXPECT_EQ(KeyOf("X-Forwarded-Proto: https"), KeyOf("x-forwarded-proto: https"));
}

TEST(CacheKeyTest, SchemePortAndHostAreParts) {
  EXPECT_NE(KeyOf("", "/a", {false, 80}), KeyOf("", "/a", {true, 80}));
  EXPECT_NE(KeyOf("", "/a", {false, 80}), KeyOf("", "/a", {false, 81}));
  const std::set<std::string> keys{KeyOfHost("a"),    KeyOfHost("A"),  KeyOfHost("a:80"),
                                   KeyOfHost("a:81"), KeyOfHost("a."), KeyOfHost("")};
  EXPECT_EQ(keys.size(), 6u);
}

TEST(CacheKeyTest, TheTargetIsNotNormalised) {
  std::set<std::string> keys;
  const char* const targets[] = {"/me",
                                 "/ME",
                                 "/me/",
                                 "/me/x.css",
                                 "/me%2fx.css",
                                 "/me;a.js",
                                 "/me?",
                                 "/me?a=1;b",
                                 "/me?a=1&b",
                                 "/me?b&a=1",
                                 "/%6de",
                                 "//me",
                                 "/./me",
                                 "/me?a=1&b=",
                                 "/x/../me",
                                 "/me%00",
                                 "http://a.example/me"};
  for (const char* target : targets) keys.insert(KeyOf("", target));
  EXPECT_EQ(keys.size(), std::size(targets));
}

TEST(CacheKeyTest, ForwardingFieldsAreParts) {
  for (const char* name :
       {"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix",
        "Forwarded", "X-Forwarded-Scheme", "X-Host", "X-Url-Scheme", "Front-End-Https"}) {
    const std::string line(name);
    EXPECT_NE(KeyOf(line + ": evil"), KeyOf()) << name;
    EXPECT_NE(KeyOf(line + ": evil"), KeyOf(line + ": good")) << name;
    EXPECT_NE(KeyOf(line + ":"), KeyOf()) << name;
  }
  // An application takes the first or the last line.
  EXPECT_NE(KeyOf("X-Forwarded-Host: a|X-Forwarded-Host: b"),
            KeyOf("X-Forwarded-Host: b|X-Forwarded-Host: a"));
  EXPECT_NE(KeyOf("X-Forwarded-Host: a|X-Forwarded-Host: b"), KeyOf("X-Forwarded-Host: a, b"));
  EXPECT_NE(KeyOf("X-Forwarded-Host: a|X-Forwarded-Proto: b"),
            KeyOf("X-Forwarded-Host: a|X-Forwarded-Prefix: b"));
}

TEST(CacheKeyTest, NoPartRunsIntoTheNextOne) {
  http1::RequestHead one;
  one.host = "a/b";
  one.target = "/c";
  http1::RequestHead other;
  other.host = "a";
  other.target = "/b/c";
  std::string first;
  std::string second;
  EXPECT_TRUE(MakeKey({}, one, &first) && MakeKey({}, other, &second));
  EXPECT_NE(first, second);
}

TEST(CacheKeyTest, KeysAreBounded) {
  const size_t rest = KeyOf("", "/").size() - 1;
  const std::string longest(kKeyBytesMax - rest, '/');
  EXPECT_EQ(KeyOf("", longest).size(), kKeyBytesMax);
  const TestRequest longer("", "GET", std::string(longest.size() + 1, '/'));
  std::string key;
  EXPECT_FALSE(MakeKey({false, 80}, longer.head(), &key));
  const TestRequest forwarded("Forwarded: " + std::string(kKeyBytesMax, 'a'));
  EXPECT_FALSE(MakeKey({false, 80}, forwarded.head(), &key));
}

TEST(CacheKeyTest, AKeyNamesItsUrl) {
  KeyParts parts;
  for (const char* lines : {"", "Forwarded: by=x|X-Forwarded-Proto: https"}) {
    const std::string key = KeyOf(lines, "/a?b", {true, 65536});
    ASSERT_TRUE(SplitKey(key, &parts));
    EXPECT_TRUE(parts.scope.is_secure);
    EXPECT_EQ(parts.scope.port, 65536u);
    EXPECT_EQ(parts.host, "a.example");
    EXPECT_EQ(parts.target, "/a?b");
  }
  const std::string variant = KeyOf().append("\n?0123\n+a");
  ASSERT_TRUE(SplitKey(variant, &parts));
  EXPECT_EQ(parts.target, "/a");
}

TEST(CacheKeyTest, AKeyForAnotherTargetIsThatOfItsRequest) {
  for (const char* lines : {"", "Forwarded: by=x|X-Forwarded-Proto: https"}) {
    const KeyScope scope{true, 65536};
    EXPECT_EQ(KeyForTarget(KeyOf(lines, "/a?b", scope), "/c"), KeyOf(lines, "/c", scope));
  }
}

TEST(CacheKeyTest, TextsThatAreNoKeyAreRefused) {
  KeyParts parts;
  for (const char* text : {"", "h", "h80", "h80\n", "h80\na", "h80\na\n", "x80\na\n/", "h\na\n/",
                           "h-1\na\n/", "h8x\na\n/", "h99999999999\na\n/", "\n\n\n"}) {
    EXPECT_FALSE(SplitKey(text, &parts)) << text;
  }
  EXPECT_TRUE(SplitKey("h80\n\n/", &parts));
}

}  // namespace
}  // namespace httpsys::cache
