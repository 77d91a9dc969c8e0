// How the memory for output caches is shared out among the members of a port.

#include "sharing/cache_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
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
                {units * kUnit, limit_ * kUnit, held * kUnit, serials_[link]});
  }
  // The member has seen its last grant, and says so.
  void Confirm(LinkId link, uint64_t units) {
    serials_[link] = last_serials_[link];
    Wish(link, units, granted_[link]);
  }
  // The grants that have changed, in units.
  std::map<LinkId, uint64_t> Update(bool keeps = false) {
    std::map<LinkId, uint64_t> changed;
    for (const auto& [link, bytes, serial] : shares_.Update(keeps)) {
      EXPECT_EQ(bytes % kUnit, 0u);
      last_serials_[link] = serial;
      changed[link] = bytes / kUnit;
      granted_[link] = bytes / kUnit;
    }
    return changed;
  }
  using Grants = std::map<LinkId, uint64_t>;

  uint64_t limit_ = 16;
  CacheShares shares_;
  Grants granted_;
  std::map<LinkId, uint32_t> serials_;       // Of the grants that were seen.
  std::map<LinkId, uint32_t> last_serials_;  // Of those that were sent.
};

TEST_F(CacheSharesTest, EveryoneGetsWhatIsWantedWhileThereIsEnough) {
  Wish(0, 8);
  Wish(1, 4);
  EXPECT_EQ(Update(), (Grants{{0, 8}, {1, 4}}));
  EXPECT_EQ(Update(), Grants{}) << "nothing has changed";
  Wish(2, 4);
  EXPECT_EQ(Update(), (Grants{{2, 4}}));
}

TEST_F(CacheSharesTest, AnotherWishIsAnsweredAndAConfirmationIsNot) {
  Wish(1, 4);
  EXPECT_EQ(Update(), (Grants{{1, 4}}));
  Confirm(1, 4);
  EXPECT_EQ(Update(), Grants{});
  Wish(1, 100, 4);
  EXPECT_EQ(Update(), (Grants{{1, 16}}));
}

TEST_F(CacheSharesTest, WhatIsUsedMustBeGivenBackBeforeAnotherMemberGetsIt) {
  Wish(0, 16);
  EXPECT_EQ(Update(), (Grants{{0, 16}}));
  Wish(1, 16);
  EXPECT_EQ(Update(), (Grants{{0, 8}, {1, 0}}));
  EXPECT_EQ(Update(), Grants{}) << "it has not given anything back yet";
  Wish(0, 16, 0);
  EXPECT_EQ(Update(), Grants{}) << "that was before it saw its first grant";
  Confirm(0, 16);
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

TEST_F(CacheSharesTest, AMemberThatWantsNothingHasNothingOnceItHasSeenItsGrant) {
  Wish(1, 16);
  (void)Update();
  Wish(2, 16);
  EXPECT_EQ(Update(), (Grants{{1, 8}, {2, 0}}));
  Wish(1, 0);
  EXPECT_EQ(Update(), Grants{});
  granted_[1] = 0;
  Confirm(1, 0);
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
  Confirm(1, 16);
  EXPECT_EQ(Update(true), Grants{});
  EXPECT_EQ(Update(false), (Grants{{2, 8}}));
}

// Members that come, go, want anything, and see their grants sooner or later, in order.
TEST_F(CacheSharesTest, TogetherTheyNeverUseMoreThanTheLimit) {
  struct Played {
    uint64_t wanted = 0;
    uint64_t held = 0;
    uint32_t serial = 0;
    std::deque<CacheShares::Grant> grants;  // On their way.
    std::deque<peer::CacheWish> wishes;
  };
  std::mt19937 random(7);
  std::map<LinkId, Played> members;
  const auto update = [&](bool keeps) {
    for (const CacheShares::Grant& grant : shares_.Update(keeps)) {
      members[grant.link].grants.push_back(grant);
    }
  };
  const auto say = [&](Played* member) {
    member->wishes.push_back(
        {member->wanted * kUnit, limit_ * kUnit, member->held, member->serial});
  };
  const auto take_grant = [&](Played* member) {
    if (member->grants.empty()) return false;
    member->serial = member->grants.front().serial;
    if (member->wanted != 0) member->held = member->grants.front().bytes;
    member->grants.pop_front();
    say(member);
    return true;
  };
  const auto take_wish = [&](LinkId link, Played* member) {
    if (member->wishes.empty()) return false;
    shares_.Set(link, static_cast<uint32_t>(100 + link), member->wishes.front());
    member->wishes.pop_front();
    update(random() % 10 == 0);
    return true;
  };
  LinkId last = 0;
  for (int step = 0; step < 100'000; ++step) {
    const auto index = static_cast<long>(random() % 6);
    const auto there = static_cast<long>(members.size()) > index ? std::next(members.begin(), index)
                                                                 : members.end();
    switch (random() % 12) {
      case 0: {
        Played& member = there == members.end() ? members[++last] : there->second;
        member.wanted = random() % 12;
        if (member.wanted == 0) member.held = 0;
        say(&member);
        break;
      }
      case 1:
        if (there == members.end() || random() % 4 != 0) break;
        shares_.Remove(there->first);
        members.erase(there);
        update(false);
        break;
      default:
        if (there == members.end()) break;
        if (random() % 2 == 0) {
          take_grant(&there->second);
        } else {
          take_wish(there->first, &there->second);
        }
    }
    uint64_t used = 0;
    for (const auto& [each, member] : members) used += member.held;
    ASSERT_LE(used, limit_ * kUnit) << step;
  }
  // At rest all of it is used, or everybody has what is wanted.
  update(false);
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    for (auto& [link, member] : members) {
      while (take_grant(&member) || take_wish(link, &member)) is_moving = true;
    }
    update(false);
  }
  uint64_t wanted = 0;
  uint64_t used = 0;
  for (const auto& [link, member] : members) {
    wanted += member.wanted * kUnit;
    used += member.held;
  }
  EXPECT_EQ(used, std::min(wanted, limit_ * kUnit));
}

}  // namespace
}  // namespace httpsys::sharing
