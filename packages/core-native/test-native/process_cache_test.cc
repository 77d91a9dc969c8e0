#include "engine/cache/process_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cache/cache_key.h"
#include "engine/cache/cache_reader.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::FindResult;
using cache::Refusal;
using cache::TestRequest;

// A cache with one scope, and a lane that reads it.
class ProcessCacheTest : public testing::Test {
 protected:
  ProcessCacheTest() : scope_(cache_.Claim("http://a.example:80/")), reader_(&cache_) {}

  std::string KeyOf(const TestRequest& request, uint32_t scope) const {
    std::string key;
    EXPECT_TRUE(cache::MakeKey({false, scope}, request.head(), &key));
    return key;
  }
  Refusal Store(const TestRequest& request, std::string_view body, std::string_view vary = {}) {
    return StoreAt(request, body, vary, cache_.MarkOf(KeyOf(request, scope_)));
  }
  Refusal StoreAt(const TestRequest& request, std::string_view body, std::string_view vary,
                  ProcessCache::Mark mark) {
    const std::string key = KeyOf(request, scope_);
    cache::VaryNames names;
    if (!vary.empty()) names.Add(vary);
    ProcessCache::Response response;
    response.parts.key = key;
    response.parts.body = body;
    response.vary = &names;
    response.lines = request.head().lines;
    response.mark = mark;
    return cache_.Store(response);
  }
  // The body that the request gets; empty: none.
  std::string Find(const TestRequest& request) {
    std::string key = KeyOf(request, scope_);
    cache::FoundEntry found;
    const bool is_hit = reader_.Find(request.head(), scope_, &key, &found) == FindResult::kHit;
    return is_hit ? std::string(found.body) : std::string();
  }

  ProcessCache cache_;
  uint32_t scope_;
  CacheReader reader_;
};

TEST_F(ProcessCacheTest, GivesALaneWhatWasStored) {
  const TestRequest request;
  EXPECT_EQ(Find(request), "");
  EXPECT_EQ(Store(request, "one"), Refusal::kNone);
  EXPECT_EQ(Find(request), "one");
  EXPECT_EQ(Store(request, "two"), Refusal::kNone);
  EXPECT_EQ(Find(request), "two");
  EXPECT_EQ(Find(TestRequest("", "GET", "/b")), "");
}

TEST_F(ProcessCacheTest, KeepsVariantsApartAndForgetsThemTogether) {
  const TestRequest german("Accept-Language: de");
  const TestRequest english("Accept-Language: en");
  EXPECT_EQ(Store(german, "hallo", "Accept-Language"), Refusal::kNone);
  EXPECT_EQ(Find(english), "");
  EXPECT_EQ(Store(english, "hello", "accept-language"), Refusal::kNone);
  EXPECT_EQ(Find(german), "hallo");
  EXPECT_EQ(Find(english), "hello");
  EXPECT_TRUE(cache_.Drop(KeyOf(german, scope_)));
  EXPECT_EQ(Find(german), "");
  EXPECT_EQ(Find(english), "");
  // Variants of before stay unreachable.
  EXPECT_EQ(Store(english, "hello again", "Accept-Language"), Refusal::kNone);
  EXPECT_EQ(Find(german), "");
}

TEST_F(ProcessCacheTest, KeepsVariantsWhenFurtherFieldsDecideAboutOthers) {
  const TestRequest german("Accept-Language: de");
  const TestRequest english("Accept-Language: en");
  const TestRequest plain("Accept-Language: en|DNT: 1");
  EXPECT_EQ(Store(german, "hallo", "Accept-Language"), Refusal::kNone);
  EXPECT_EQ(Store(english, "hello", "Accept-Language, DNT"), Refusal::kNone);
  EXPECT_EQ(Find(german), "hallo");
  EXPECT_EQ(Find(english), "hello");
  EXPECT_EQ(Find(plain), "");
  EXPECT_EQ(Store(plain, "hi", "DNT"), Refusal::kNone);
  EXPECT_EQ(Find(plain), "hi");
  EXPECT_EQ(Find(english), "hello");
  // A third step takes the place of the second one, and of nothing else.
  EXPECT_EQ(Store(TestRequest("Accept-Language: en|DNT: 1|A: 1"), "hey", "A"), Refusal::kNone);
  EXPECT_EQ(Find(TestRequest("Accept-Language: en|DNT: 1|A: 1")), "hey");
  EXPECT_EQ(Find(plain), "");
  EXPECT_EQ(Find(english), "");
  EXPECT_EQ(Find(german), "hallo");
  // One that names fewer fields is found by all that the record names.
  EXPECT_EQ(Store(german, "servus", "Accept-Language"), Refusal::kNone);
  EXPECT_EQ(Find(german), "servus");
  EXPECT_TRUE(cache_.Drop(KeyOf(german, scope_)));
  EXPECT_EQ(Find(TestRequest("Accept-Language: en|DNT: 1|A: 1")), "");
  EXPECT_EQ(Store(german, "for all"), Refusal::kNone);
  EXPECT_EQ(Find(TestRequest("Accept-Language: fr")), "for all");
}

TEST_F(ProcessCacheTest, RefusesWhatAnInvalidationHasMadeObsolete) {
  const TestRequest request;
  const std::string key = KeyOf(request, scope_);
  ProcessCache::Mark mark = cache_.MarkOf(key);
  EXPECT_FALSE(cache_.Drop(key));
  EXPECT_EQ(StoreAt(request, "old", "", mark), Refusal::kObsolete);
  mark = cache_.MarkOf(key);
  cache_.BeginFlush();
  EXPECT_EQ(StoreAt(request, "old", "", mark), Refusal::kObsolete);
  EXPECT_EQ(Find(request), "");
  EXPECT_EQ(Store(request, "new"), Refusal::kNone);
}

TEST_F(ProcessCacheTest, ForgetsAScopeWithItsLastClaim) {
  const TestRequest request;
  EXPECT_EQ(cache_.Claim("http://a.example:80/"), scope_);
  const uint32_t other = cache_.Claim("http://b.example:80/");
  EXPECT_NE(other, scope_);
  EXPECT_EQ(Store(request, "one"), Refusal::kNone);
  cache_.Release("http://a.example:80/");
  EXPECT_EQ(Find(request), "one");
  cache_.Release("http://a.example:80/");
  EXPECT_EQ(Find(request), "");
  // Nobody finds what a late answer stores for it.
  EXPECT_NE(cache_.Claim("http://a.example:80/"), scope_);
}

TEST_F(ProcessCacheTest, GivesMemoryBackWithTheLastScope) {
  EXPECT_EQ(Store(TestRequest(), "one"), Refusal::kNone);
  EXPECT_GT(cache_.memory_bytes(), 0u);
  cache_.Release("http://a.example:80/");
  EXPECT_EQ(cache_.memory_bytes(), 0u);
}

TEST_F(ProcessCacheTest, UsesTheLargestOfItsBounds) {
  constexpr uint64_t kMiB = 1024 * 1024;
  const std::string body(500'000, 'x');
  const auto fill = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(Store(TestRequest("", "GET", "/" + std::to_string(i)), body), Refusal::kNone);
    }
    return cache_.memory_bytes();
  };
  int users[2];
  cache_.SetBytes(&users[0], 8 * kMiB);
  EXPECT_EQ(fill(), 8 * kMiB);
  cache_.SetBytes(&users[1], 12 * kMiB);
  EXPECT_EQ(fill(), 12 * kMiB);
  cache_.SetBytes(&users[1], 0);
  EXPECT_EQ(cache_.memory_bytes(), 8 * kMiB);
  // More than the arena was made for.
  cache_.SetBytes(&users[0], 40 * kMiB);
  EXPECT_EQ(fill(), 40 * kMiB);
  EXPECT_EQ(Find(TestRequest("", "GET", "/99")), body);
}

TEST_F(ProcessCacheTest, BoundsWhatIsBeingCaptured) {
  constexpr uint64_t kMost = ProcessCache::kDefaultBytes / 8;
  EXPECT_TRUE(cache_.TakeCaptureBytes(kMost));
  EXPECT_FALSE(cache_.TakeCaptureBytes(1));
  cache_.ReturnCaptureBytes(kMost);
  EXPECT_TRUE(cache_.TakeCaptureBytes(1));
}

}  // namespace
}  // namespace httpsys::engine
