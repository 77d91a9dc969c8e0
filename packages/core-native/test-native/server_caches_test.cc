#include "engine/cache/server_caches.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache_key.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::TestRequest;

constexpr uint32_t kServer = 1;
constexpr uint32_t kOther = 2;
constexpr const char* kA = "http://a.example:80/a/";
constexpr const char* kB = "http://a.example:80/b/";

class ServerCachesTest : public testing::Test {
 protected:
  static ServerSettings Settings(std::vector<NumberedPrefix> changes, bool is_whole = true) {
    ServerSettings settings;
    settings.cache.rules = 2;
    settings.prefixes = {false, is_whole, std::move(changes), {}};
    return settings;
  }
  static ServerSettings Everything() {
    ServerSettings settings;
    settings.cache.rules = 2;
    return settings;
  }
  void Store(uint32_t scope, std::string_view target = "/a") {
    const TestRequest request("", "GET", target);
    std::string key;
    EXPECT_TRUE(cache::MakeKey({false, scope}, request.head(), &key));
    const cache::VaryNames no_names;
    ProcessCache::Response response;
    response.parts.key = key;
    response.parts.body = "body";
    response.parts.status = 200;
    response.vary = &no_names;
    response.mark = cache_.MarkOf(key);
    EXPECT_EQ(cache_.Store(response), cache::Refusal::kNone);
  }
  size_t Count(uint32_t server = kServer) { return caches_.Entries(server, "", 100).size(); }

  ProcessCache cache_;
  ServerCaches caches_{&cache_, "engine"};
};

TEST_F(ServerCachesTest, GivesEachPrefixAndEachServerAScope) {
  const auto terms = caches_.Configure(kServer, Settings({{1, kA}, {2, kB}}));
  ASSERT_NE(terms, nullptr);
  EXPECT_NE(terms->ScopeOf(1), 0u);
  EXPECT_NE(terms->ScopeOf(1), terms->ScopeOf(2));
  EXPECT_EQ(terms->ScopeOf(3), 0u);
  const auto first = caches_.Configure(kOther, Everything());
  const auto second = caches_.Configure(3, Everything());
  EXPECT_NE(first->ScopeOf(0), 0u);
  EXPECT_NE(first->ScopeOf(0), second->ScopeOf(0));
  EXPECT_EQ(caches_.Configure(4, ServerSettings()), nullptr);
  EXPECT_TRUE(caches_.HasCache(kServer));
  EXPECT_FALSE(caches_.HasCache(4));
}

TEST_F(ServerCachesTest, SharesTheScopeOfOnePrefix) {
  const auto one = caches_.Configure(kServer, Settings({{1, kA}}));
  const auto other = caches_.Configure(kOther, Settings({{7, kA}}));
  EXPECT_EQ(one->ScopeOf(1), other->ScopeOf(7));
  Store(one->ScopeOf(1));
  caches_.Forget(kServer);
  EXPECT_EQ(Count(kOther), 1u);
  caches_.Forget(kOther);
  EXPECT_NE(caches_.Configure(kServer, Settings({{1, kA}}))->ScopeOf(1), one->ScopeOf(1));
  EXPECT_EQ(Count(), 0u);
}

TEST_F(ServerCachesTest, FollowsPrefixesThatComeAndGo) {
  const auto whole = caches_.Configure(kServer, Settings({{1, kA}}));
  const auto added = caches_.Configure(kServer, Settings({{2, kB}}, false));
  EXPECT_EQ(added->ScopeOf(1), whole->ScopeOf(1));
  Store(added->ScopeOf(1));
  Store(added->ScopeOf(2));
  EXPECT_EQ(Count(), 2u);
  // The prefix gets another id.
  const auto moved = caches_.Configure(kServer, Settings({{1, ""}, {3, kA}}, false));
  EXPECT_EQ(moved->ScopeOf(3), whole->ScopeOf(1));
  EXPECT_EQ(moved->ScopeOf(1), 0u);
  EXPECT_EQ(Count(), 2u);
  const auto removed = caches_.Configure(kServer, Settings({{2, ""}}, false));
  EXPECT_EQ(removed->ScopeOf(2), 0u);
  EXPECT_EQ(Count(), 1u);
  // The same prefixes as a whole keep their entries.
  EXPECT_EQ(caches_.Configure(kServer, Settings({{3, kA}}))->ScopeOf(3), whole->ScopeOf(1));
  EXPECT_EQ(Count(), 1u);
}

TEST_F(ServerCachesTest, CachesOnlyThePrefixesOfTheList) {
  ServerSettings settings = Settings({{1, kA}, {2, kB}});
  settings.cache.prefixes = {kB};
  const auto terms = caches_.Configure(kServer, settings);
  EXPECT_EQ(terms->ScopeOf(1), 0u);
  EXPECT_NE(terms->ScopeOf(2), 0u);
}

TEST_F(ServerCachesTest, ForgetsEverythingOfAServerWithoutACache) {
  Store(caches_.Configure(kServer, Everything())->ScopeOf(0));
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(caches_.Configure(kServer, ServerSettings()), nullptr);
  EXPECT_EQ(Count(), 0u);
  EXPECT_EQ(cache_.memory_bytes(), 0u);
}

TEST_F(ServerCachesTest, FlushesOneUrlThoseBelowItOrAll) {
  const uint32_t scope = caches_.Configure(kServer, Everything())->ScopeOf(0);
  const uint32_t other = caches_.Configure(kOther, Everything())->ScopeOf(0);
  for (const std::string_view target : {"/a", "/a/b", "/a?c", "/ab"}) Store(scope, target);
  Store(other);
  EXPECT_EQ(caches_.Flush(kServer, "no URL", false), -EINVAL);
  EXPECT_EQ(caches_.Flush(kServer, "http://a.example/a/b", false), 1);
  EXPECT_EQ(caches_.Flush(kServer, "http://a.example/a", true), 2);
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(caches_.Flush(kServer, "", true), 1);
  EXPECT_EQ(Count(kOther), 1u);
}

TEST_F(ServerCachesTest, TellsFigures) {
  const auto terms = caches_.Configure(kServer, Everything());
  Store(terms->ScopeOf(0));
  terms->counters->Add(CacheCounter::kHits);
  terms->counters->AddRefusal(cache::Refusal::kSetCookie);
  const CacheStatistics statistics = caches_.Statistics(kServer);
  const auto figure = [](const std::vector<CacheFigure>& figures, std::string_view name) {
    for (const CacheFigure& one : figures) {
      if (one.name == name) return one.value;
    }
    return UINT64_MAX;
  };
  EXPECT_EQ(figure(statistics.figures, "hits"), 1u);
  EXPECT_EQ(figure(statistics.figures, "misses"), 0u);
  EXPECT_EQ(figure(statistics.figures, "entries"), 1u);
  EXPECT_GT(figure(statistics.figures, "bytes"), 0u);
  EXPECT_EQ(statistics.refused.size(), 1u);
  EXPECT_EQ(figure(statistics.refused, "SET_COOKIE"), 1u);
  EXPECT_TRUE(caches_.Statistics(99).figures.empty());
}

}  // namespace
}  // namespace httpsys::engine
