// How the memory for output caches is shared out among the members of a port.

#include "sharing/cache_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace httpsys::sharing {
namespace {

constexpr uint64_t kUnit = CacheShares::kUnitBytes;

class CacheSharesTest : public testing::Test {
 protected:
  void Wish(LinkId link, uint64_t units, uint64_t held = 0, uint32_t pid = 0) {
    shares_.Set(link, pid == 0 ? static_cast<uint32_t>(100 + link) : pid,
                {units * kUnit, limit_ * kUnit, held * kUnit});
  }
  // The grants that have changed, in units.
  std::map<LinkId, uint64_t> Update(bool keeps = false) {
    std::map<LinkId, uint64_t> changed;
    for (const auto& [link, bytes] : shares_.Update(keeps)) {
      EXPECT_EQ(bytes % kUnit, 0u);
      changed[link] = bytes / kUnit;
      granted_[link] = bytes / kUnit;
    }
    return changed;
  }
  using Grants = std::map<LinkId, uint64_t>;

  uint64_t limit_ = 16;
  CacheShares shares_;
  Grants granted_;
};

TEST_F(CacheSharesTest, EveryoneGetsWhatIsWantedWhileThereIsEnough) {
  Wish(0, 8);
  Wish(1, 4);
  EXPECT_EQ(Update(), (Grants{{0, 8}, {1, 4}}));
  EXPECT_EQ(Update(), Grants{}) << "nothing has changed";
  Wish(2, 4);
  EXPECT_EQ(Update(), (Grants{{2, 4}}));
}

TEST_F(CacheSharesTest, AWishIsAnsweredEvenIfNothingChanges) {
  Wish(1, 4);
  EXPECT_EQ(Update(), (Grants{{1, 4}}));
  Wish(1, 4, 4);
  EXPECT_EQ(Update(), (Grants{{1, 4}}));
}

TEST_F(CacheSharesTest, WhatIsUsedMustBeGivenBackBeforeAnotherMemberGetsIt) {
  Wish(0, 16);
  EXPECT_EQ(Update(), (Grants{{0, 16}}));
  Wish(1, 16);
  EXPECT_EQ(Update(), (Grants{{0, 8}, {1, 0}}));
  EXPECT_EQ(Update(), Grants{}) << "it has not given anything back yet";
  Wish(0, 16, 16);
  EXPECT_EQ(Update(), (Grants{{0, 8}})) << "nor then";
  shares_.SetHeld(0, 8 * kUnit);
  EXPECT_EQ(Update(), (Grants{{1, 8}}));
}

TEST_F(CacheSharesTest, SmallWishesAreGrantedAndTheRestIsDividedEqually) {
  Wish(1, 2);
  Wish(2, 100);
  Wish(3, 100);
  EXPECT_EQ(Update(), (Grants{{1, 2}, {2, 7}, {3, 7}}));
}

TEST_F(CacheSharesTest, GrantsOfMembersThatHaveGoneAreGivenBack) {
  Wish(1, 16);
  (void)Update();
  Wish(2, 16);
  EXPECT_EQ(Update(), (Grants{{1, 8}, {2, 0}}));
  shares_.Remove(1);
  EXPECT_EQ(Update(), (Grants{{2, 16}}));
}

TEST_F(CacheSharesTest, AMemberThatWantsNothingHasNothing) {
  Wish(1, 16);
  Wish(2, 16);
  (void)Update();
  Wish(1, 0);
  EXPECT_EQ(Update(), (Grants{{2, 16}}));
}

TEST_F(CacheSharesTest, MembersOfOneProcessShareOneCache) {
  Wish(1, 8, 0, 7);
  Wish(2, 8, 0, 7);
  Wish(3, 8);
  EXPECT_EQ(Update(), (Grants{{1, 8}, {2, 8}, {3, 8}}));
}

TEST_F(CacheSharesTest, TheSmallestLimitCountsAndZeroIsTheDefault) {
  limit_ = 0;
  Wish(1, 100);
  EXPECT_EQ(Update(), (Grants{{1, CacheShares::kDefaultLimitBytes / kUnit}}));
  limit_ = 10;
  Wish(2, 0);
  Wish(2, 1);
  EXPECT_EQ(Update().at(1), 9u);
}

TEST_F(CacheSharesTest, MembersBeyondTheLimitGetNothing) {
  limit_ = 2;
  for (LinkId link = 1; link <= 5; ++link) Wish(link, 1);
  (void)Update();
  uint64_t sum = 0;
  for (const auto& [link, units] : granted_) sum += units;
  EXPECT_EQ(sum, 2u);
}

TEST_F(CacheSharesTest, WhoComesBackKeepsWhatItHasAndNobodyGetsMoreMeanwhile) {
  Wish(1, 16, 10);
  Wish(2, 16, 0);
  EXPECT_EQ(Update(true), (Grants{{1, 8}, {2, 0}}));
  Wish(1, 16, 8);
  EXPECT_EQ(Update(true), (Grants{{1, 8}}));
  EXPECT_EQ(Update(false), (Grants{{2, 8}}));
}

// Members that come, go, want anything, and give back sooner or later.
TEST_F(CacheSharesTest, TogetherTheyNeverUseMoreThanTheLimit) {
  std::mt19937 random(7);
  std::map<LinkId, uint64_t> held;
  std::map<LinkId, uint64_t> wishes;
  for (int step = 0; step < 20'000; ++step) {
    const LinkId link = random() % 8;
    switch (random() % 4) {
      case 0:
        wishes[link] = random() % 12;
        Wish(link, wishes[link], held[link]);
        if (wishes[link] == 0) held.erase(link), granted_.erase(link);
        break;
      case 1:
        shares_.Remove(link);
        wishes.erase(link);
        held.erase(link);
        granted_.erase(link);
        break;
      default:
        // Applies its last grant, and tells so if that was less than before.
        if (!granted_.contains(link)) break;
        const bool is_less = granted_[link] < held[link];
        held[link] = granted_[link];
        if (is_less) shares_.SetHeld(link, held[link] * kUnit);
    }
    (void)Update(random() % 10 == 0);
    uint64_t sum = 0;
    for (const auto& [each, units] : held) sum += units;
    ASSERT_LE(sum, limit_) << step;
  }
  // At rest all of it is used, or everybody has what is wanted.
  for (int round = 0; round < 20; ++round) {
    for (const auto& [link, units] : granted_) {
      held[link] = units;
      shares_.SetHeld(link, units * kUnit);
    }
    (void)Update();
  }
  uint64_t wanted = 0;
  uint64_t used = 0;
  for (const auto& [link, units] : wishes) wanted += units;
  for (const auto& [link, units] : held) used += units;
  EXPECT_EQ(used, std::min(wanted, limit_));
}

}  // namespace
}  // namespace httpsys::sharing
