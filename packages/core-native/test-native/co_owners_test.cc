// Several processes that own the same URLs: what one of them has made obsolete is not found in the
// caches of the others.

#include "engine/cache/co_owners.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "cache/cache_key.h"
#include "engine/cache/cache_reader.h"
#include "engine/cache/process_cache.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::FindResult;
using cache::FollowedCounters;
using cache::InvalidationCounters;
using cache::InvalidationPlaces;
using cache::Refusal;
using cache::TestRequest;

constexpr uint64_t kOther = 7;
const char* const kPrefix = "http://*:8080/a/";

TEST(InvalidationPlacesTest, ArePlacesOfTheirKind) {
  for (const char* target : {"/", "/a", "/a?b", "*"}) {
    EXPECT_LT(InvalidationPlaces::OfTarget(target), InvalidationPlaces::kTargets);
  }
  for (const char* prefix : {"", kPrefix, "https://a.test:443/"}) {
    const size_t place = InvalidationPlaces::OfPrefix(prefix);
    EXPECT_GE(place, InvalidationPlaces::kTargets);
    EXPECT_LT(place * sizeof(uint64_t), InvalidationPlaces::kBytes);
  }
  EXPECT_NE(InvalidationPlaces::OfTarget("/a"), InvalidationPlaces::OfTarget("/A"));
  EXPECT_EQ(InvalidationPlaces::OfPrefix("http://*:8080/a/"),
            InvalidationPlaces::OfPrefix("http://*:8080/A/"));
  EXPECT_EQ(InvalidationPlaces::OfPrefix("http://*:8080/\xc3\xa4/"),
            InvalidationPlaces::OfPrefix("http://*:8080/\xc3\x84/"));
}

TEST(FollowedCountersTest, RaiseTheGenerationOncePerChange) {
  const auto counters = InvalidationCounters::Create();
  const auto followed = FollowedCounters::Over(counters->memory());
  ASSERT_NE(followed, nullptr);
  std::atomic<uint64_t> generation{0};
  followed->FollowTarget(3, &generation);
  EXPECT_EQ(generation, 0u);
  counters->Count(3);
  counters->Count(4);
  followed->FollowTarget(3, &generation);
  EXPECT_EQ(generation, 1u);
  followed->FollowTarget(3, &generation);
  EXPECT_EQ(generation, 1u);
}

TEST(FollowedCountersTest, AreOfOneSize) {
  EXPECT_EQ(FollowedCounters::Over(nullptr), nullptr);
  EXPECT_EQ(FollowedCounters::Over(cache::SharedMemory::Create(8)), nullptr);
  EXPECT_EQ(FollowedCounters::Over(cache::SharedMemory::Create(InvalidationPlaces::kBytes + 8)),
            nullptr);
}

// Any thread that looks after an invalidation sees another generation, whoever looks meanwhile.
TEST(FollowedCountersTest, NoChangeIsLostBetweenThreads) {
  const auto counters = InvalidationCounters::Create();
  const auto followed = FollowedCounters::Over(counters->memory());
  std::atomic<uint64_t> generation{0};
  std::atomic<bool> is_over{false};
  const auto look = [&] {
    followed->FollowTarget(5, &generation);
    return generation.load();
  };
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      while (!is_over) look();
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t before = look();
    counters->Count(5);
    ASSERT_GT(look(), before);
  }
  is_over = true;
  for (std::thread& thread : others) thread.join();
}

// A process that owns a prefix together with another one, which is played.
class CoOwnersTest : public testing::Test {
 protected:
  CoOwnersTest() : scope_(cache_.Claim(kPrefix)) {}
  ~CoOwnersTest() override {
    Share({});
    (void)owners().Sweep(this, UINT64_MAX, drop_);
    cache_.Release(kPrefix);
  }

  CoOwners& owners() { return cache_.co_owners(); }
  void Share(const std::vector<uint64_t>& members, uint64_t now_ms = 0) {
    std::vector<CoOwners::Shared> shared;
    if (!members.empty()) shared.push_back({scope_, kPrefix, members});
    owners().Set(this, shared, now_ms);
  }
  void Know() { owners().SetCounters(this, kOther, FollowedCounters::Over(other_->memory())); }
  std::string KeyOf(const std::string& target) const {
    std::string key;
    EXPECT_TRUE(cache::MakeKey({false, scope_}, TestRequest("", "GET", target).head(), &key));
    return key;
  }
  ProcessCache::Mark MarkOf(const std::string& target) { return cache_.MarkOf(KeyOf(target)); }
  Refusal Store(const std::string& target, std::string_view body, ProcessCache::Mark mark) {
    const std::string key = KeyOf(target);
    const cache::VaryNames names;
    ProcessCache::Response response;
    response.parts.key = key;
    response.parts.body = body;
    response.vary = &names;
    response.mark = mark;
    return cache_.Store(response);
  }
  Refusal Store(const std::string& target, std::string_view body) {
    return Store(target, body, MarkOf(target));
  }
  // The body, or nothing.
  std::string Find(const std::string& target) {
    const TestRequest request("", "GET", target);
    std::string key = KeyOf(target);
    cache::FoundEntry found;
    const bool is_hit = reader_.Find(request.head(), scope_, &key, &found) == FindResult::kHit;
    return is_hit ? std::string(found.body) : std::string();
  }
  // Entries in the arena, whether they are found or not.
  size_t CountEntries() {
    size_t count = 0;
    (void)cache_.DropIf([&](std::string_view, const cache::EntryHead&, uint32_t) {
      ++count;
      return false;
    });
    return count;
  }
  static size_t PlaceOf(const std::string& target) { return InvalidationPlaces::OfTarget(target); }

  ProcessCache cache_;
  uint32_t scope_;
  CacheReader reader_{&cache_};
  std::unique_ptr<InvalidationCounters> other_ = InvalidationCounters::Create();
  std::vector<uint32_t> dropped_;
  CoOwners::DropObsolete drop_ = [this](uint32_t scope) {
    EXPECT_TRUE(owners().IsShared(scope)) << "until its entries have gone";
    dropped_.push_back(scope);
    cache_.DropObsolete(scope);
  };
};

TEST_F(CoOwnersTest, WhatAnotherOwnerMakesObsoleteIsNotFound) {
  Share({kOther});
  Know();
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kNone);
  EXPECT_EQ(Find("/a/1"), "one");
  other_->Count(PlaceOf("/a/1"));
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(Find("/a/2"), "two");
  EXPECT_EQ(Store("/a/1", "new"), Refusal::kNone);
  EXPECT_EQ(Find("/a/1"), "new");
  EXPECT_EQ(Find("/a/1"), "new");
}

TEST_F(CoOwnersTest, WhoHasGoneBeforeItsCountersWereKnownKeepsNobodyFromStoring) {
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  Share({kOther});
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kObsolete);
  owners().SetGone(this, kOther);
  EXPECT_TRUE(owners().Missing(this).empty());
  // It may have made this obsolete.
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kNone);
  EXPECT_EQ(Find("/a/2"), "two");
  EXPECT_FALSE(owners().IsShared(scope_));
}

TEST_F(CoOwnersTest, AFlushOfTheOtherOwnerIsOneOfThePrefix) {
  const uint32_t scope = cache_.Claim("http://*:8080/mine/");
  Share({kOther});
  Know();
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kNone);
  CoOwners::Snapshot snapshot;
  const CoOwners::Generation mine = owners().Of(&snapshot, scope, "/mine/");
  other_->Count(InvalidationPlaces::OfPrefix("http://*:8080/mine/"));
  EXPECT_EQ(Find("/a/1"), "one");
  other_->Count(InvalidationPlaces::OfPrefix(kPrefix));
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(Find("/a/2"), "");
  EXPECT_EQ(owners().Of(&snapshot, scope, "/mine/"), mine) << "the other one does not own it";
  cache_.Release("http://*:8080/mine/");
}

TEST_F(CoOwnersTest, WhatWasAskedForBeforeAnInvalidationIsNotStored) {
  Share({kOther});
  Know();
  const ProcessCache::Mark mark = MarkOf("/a/1");
  other_->Count(PlaceOf("/a/1"));
  EXPECT_EQ(Store("/a/1", "old", mark), Refusal::kObsolete);
  const ProcessCache::Mark later = MarkOf("/a/1");
  other_->Count(InvalidationPlaces::OfPrefix(kPrefix));
  EXPECT_EQ(Store("/a/1", "old", later), Refusal::kObsolete);
  EXPECT_EQ(Store("/a/1", "new"), Refusal::kNone);
}

TEST_F(CoOwnersTest, NothingIsFoundBeforeTheCountersOfEveryOwnerAreKnown) {
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kNone);
  EXPECT_FALSE(owners().IsShared(scope_));
  // From before this process has heard of the other one.
  other_->Count(PlaceOf("/a/1"));
  Share({kOther});
  EXPECT_TRUE(owners().IsShared(scope_));
  EXPECT_EQ(owners().Missing(this), std::vector<uint64_t>{kOther});
  EXPECT_EQ(Find("/a/2"), "");
  EXPECT_EQ(Store("/a/3", "three"), Refusal::kObsolete);
  EXPECT_EQ(Find("/a/3"), "");
  Know();
  EXPECT_EQ(owners().Missing(this), std::vector<uint64_t>{});
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(Find("/a/2"), "two");
  EXPECT_EQ(Find("/a/3"), "");
  EXPECT_EQ(Store("/a/3", "three"), Refusal::kNone);
  EXPECT_EQ(Find("/a/3"), "three");
}

TEST_F(CoOwnersTest, AnEmptyCacheTellsInvalidationsOnceSomebodyMayHear) {
  EXPECT_FALSE(cache_.must_invalidate());
  owners().ExpectOthers();
  EXPECT_TRUE(cache_.must_invalidate());
}

TEST_F(CoOwnersTest, AnEmptyCacheTellsInvalidationsToWhoeverFollowsIt) {
  EXPECT_NE(owners().Share(), nullptr);
  EXPECT_TRUE(cache_.must_invalidate());
}

TEST_F(CoOwnersTest, MembersOfTheProcessItselfHaveTheSameCache) {
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  Share({kOther});
  owners().SetCounters(this, kOther, nullptr);
  EXPECT_FALSE(owners().IsShared(scope_));
  EXPECT_EQ(owners().Missing(this), std::vector<uint64_t>{});
  EXPECT_EQ(Find("/a/1"), "one");
  owners().CountTarget("/a/1");
  EXPECT_EQ(Find("/a/1"), "one");
}

TEST_F(CoOwnersTest, AnOwnerThatHasLeftIsHeardForAWhile) {
  Share({kOther});
  Know();
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  EXPECT_EQ(Store("/a/2", "two"), Refusal::kNone);
  EXPECT_EQ(Store("/a/3", "three"), Refusal::kNone);
  other_->Count(PlaceOf("/a/1"));
  Share({}, 1000);
  EXPECT_TRUE(owners().Sweep(this, 1000, drop_));
  EXPECT_TRUE(owners().IsShared(scope_));
  other_->Count(PlaceOf("/a/2"));
  EXPECT_EQ(Find("/a/2"), "");
  EXPECT_TRUE(owners().Sweep(this, 1000 + limits::kCacheFormerMs - 1, drop_));
  EXPECT_EQ(CountEntries(), 3u);
  EXPECT_FALSE(owners().Sweep(this, 1000 + limits::kCacheFormerMs, drop_));
  // Other processes may look for entries now, and do not know what is obsolete.
  EXPECT_EQ(dropped_, std::vector<uint32_t>{scope_});
  EXPECT_FALSE(owners().IsShared(scope_));
  EXPECT_EQ(CountEntries(), 1u);
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(Find("/a/3"), "three");
}

TEST_F(CoOwnersTest, AnOwnerThatComesBackIsThere) {
  Share({kOther});
  Know();
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  Share({}, 1000);
  Share({kOther}, 2000);
  EXPECT_FALSE(owners().Sweep(this, 1'000'000, drop_));
  EXPECT_EQ(Find("/a/1"), "one");
  other_->Count(PlaceOf("/a/1"));
  EXPECT_EQ(Find("/a/1"), "");
}

TEST_F(CoOwnersTest, OfAnOwnerThatWasNeverHeardEverythingIsObsolete) {
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  Share({kOther});
  Share({});
  EXPECT_FALSE(owners().Sweep(this, 0, drop_));
  EXPECT_FALSE(owners().IsShared(scope_));
  EXPECT_EQ(Find("/a/1"), "");
  EXPECT_EQ(CountEntries(), 0u);
}

TEST_F(CoOwnersTest, CountersWithAnyContentsCostMissesAndNoMore) {
  const uint32_t mine = cache_.Claim("http://*:8080/mine/");
  const auto wild = cache::SharedMemory::Create(InvalidationPlaces::kBytes);
  Share({kOther});
  owners().SetCounters(this, kOther, FollowedCounters::Over(wild));
  CoOwners::Snapshot snapshot;
  const CoOwners::Generation before = owners().Of(&snapshot, mine, "/mine/");
  EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
  for (uint64_t value : {UINT64_MAX, uint64_t{1}, uint64_t{0}, uint64_t{1}}) {
    for (size_t i = 0; i < InvalidationPlaces::kBytes / 8; ++i) wild->words()[i] = value;
    EXPECT_EQ(Find("/a/1"), "") << value;
    EXPECT_EQ(Store("/a/1", "one"), Refusal::kNone);
    EXPECT_EQ(Find("/a/1"), "one");
    EXPECT_EQ(owners().Of(&snapshot, mine, "/mine/"), before);
  }
  cache_.Release("http://*:8080/mine/");
}

TEST_F(CoOwnersTest, AnInvalidationIsCountedForTheOthers) {
  const auto followed = FollowedCounters::Over(cache_.co_owners().Share());
  ASSERT_NE(followed, nullptr);
  std::atomic<uint64_t> generation{0};
  FollowedCounters::Seen seen{0};
  EXPECT_FALSE(cache_.Invalidate(KeyOf("/a/1"))) << "nothing is stored here";
  followed->FollowTarget(PlaceOf("/a/1"), &generation);
  EXPECT_EQ(generation, 1u);
  owners().CountPrefix("http://*:8080/A/");
  followed->FollowPrefix(InvalidationPlaces::OfPrefix(kPrefix), &seen, &generation);
  EXPECT_EQ(generation, 2u);
}

}  // namespace
}  // namespace httpsys::engine
