#include "engine/cache/refused_targets.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cache/cache_key.h"
#include "cache/vary.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;
using cache::TestRequest;

constexpr uint64_t kNowMs = 1000;

class RefusedTargetsTest : public testing::Test {
 protected:
  RefusedTargetsTest() : scope_(cache_.Claim("http://a.example:80/")), targets_(&cache_) {}

  std::string KeyOf(const TestRequest& request) const {
    std::string key;
    EXPECT_TRUE(cache::MakeKey({false, scope_}, request.head(), &key));
    return key;
  }
  uint64_t HashOf(const TestRequest& request) const {
    return targets_.HashOf(request.head(), scope_, false);
  }
  void Refuse(const TestRequest& request, int times, Refusal refusal = Refusal::kNoFreshness) {
    for (int i = 0; i < times; ++i) {
      targets_.OnResponse(HashOf(request), cache_.StoresOf(KeyOf(request)), refusal, kNowMs);
    }
  }

  ProcessCache cache_;
  uint32_t scope_;
  RefusedTargets targets_;
};

TEST_F(RefusedTargetsTest, KnowsTargetsThatWereRefusedSeveralTimes) {
  const TestRequest request;
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNone);
  Refuse(request, RefusedTargets::kRefusalsMin - 1);
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNone);
  Refuse(request, 1);
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNoFreshness);
  constexpr uint64_t kEndMs = kNowMs + RefusedTargets::kRememberedMs;
  EXPECT_EQ(targets_.Find(HashOf(request), kEndMs - 1), Refusal::kNoFreshness);
  EXPECT_EQ(targets_.Find(HashOf(request), kEndMs), Refusal::kNone);
  const TestRequest other({}, "GET", "/b");
  EXPECT_EQ(targets_.Find(HashOf(other), kNowMs), Refusal::kNone);
}

TEST_F(RefusedTargetsTest, AnswersToUsersWithACookieDecideNothingForOthers) {
  const TestRequest user("Cookie: session=1");
  const TestRequest anybody;
  Refuse(user, RefusedTargets::kRefusalsMin, Refusal::kPrivate);
  EXPECT_EQ(targets_.Find(HashOf(user), kNowMs), Refusal::kPrivate);
  EXPECT_EQ(targets_.Find(HashOf(anybody), kNowMs), Refusal::kNone);
}

TEST_F(RefusedTargetsTest, ForgetsATargetWhoseResponseIsRefusedForAnotherReason) {
  const TestRequest request;
  Refuse(request, RefusedTargets::kRefusalsMin);
  targets_.OnResponse(HashOf(request), cache_.StoresOf(KeyOf(request)), Refusal::kTooLarge, kNowMs);
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNone);
  Refuse(request, RefusedTargets::kRefusalsMin - 1);
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNone);
}

TEST_F(RefusedTargetsTest, ForgetsATargetThatAnyLaneStores) {
  const TestRequest request;
  Refuse(request, RefusedTargets::kRefusalsMin);
  const std::string key = KeyOf(request);
  const cache::VaryNames names;
  ProcessCache::Response response;
  response.parts.key = key;
  response.parts.body = "body";
  response.vary = &names;
  response.mark = cache_.MarkOf(key);
  ASSERT_EQ(cache_.Store(response), Refusal::kNone);
  EXPECT_EQ(targets_.Find(HashOf(request), kNowMs), Refusal::kNone);
}

TEST_F(RefusedTargetsTest, TellsTargetsApartByWhatIsInTheirKeys) {
  const TestRequest request;
  const uint64_t hash = HashOf(request);
  EXPECT_NE(hash, 0u);
  EXPECT_EQ(HashOf(TestRequest("User-Agent: a|Accept: text/html|TE: trailers")), hash);
  EXPECT_NE(targets_.HashOf(request.head(), scope_ + 1, false), hash);
  EXPECT_NE(targets_.HashOf(request.head(), scope_, true), hash);
}

TEST_F(RefusedTargetsTest, LeavesRequestsAloneWhoseLinesMatter) {
  for (const std::string_view line :
       {"Cache-Control: only-if-cached", "AUTHORIZATION: Basic YTpi", "Proxy-Authorization: a",
        "Range: bytes=0-1", "If-Range: \"a\"", "Translate: f", "Upgrade: a", "X-Original-URL: /b",
        "X-HTTP-Method-Override: PUT", "X-Forwarded-Host: b", "Forwarded: host=b",
        "Front-End-Https: on", "Transfer-Encoding: chunked", "Content-Length: 1", "Expect: b",
        "Connection: upgrade|Upgrade: a"}) {
    EXPECT_EQ(HashOf(TestRequest(line)), 0u) << line;
  }
}

}  // namespace
}  // namespace httpsys::engine
