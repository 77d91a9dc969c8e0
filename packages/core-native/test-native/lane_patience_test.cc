// When a lane lets other members run first, and when it is in haste.

#include "engine/peers/lane_patience.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <thread>
#include <vector>

#include "base/limits.h"

namespace httpsys::engine {
namespace {

using limits::kHasteMs;

class LanePatienceTest : public testing::Test {
 protected:
  // Returns how often the lane has given way in a turn at this time.
  int GivesWayAt(uint64_t now_ms) {
    ways_ = 0;
    patience_.BeginPass(now_ms);
    patience_.GiveWay();
    return ways_;
  }

  std::vector<bool> changes_;  // Of the thread.
  int ways_ = 0;
  LanePatience patience_{[this](bool is_patient) { changes_.push_back(is_patient); },
                         [this] { ++ways_; }};
};

TEST_F(LanePatienceTest, ALaneWithoutOtherMembersNeverGivesWay) {
  EXPECT_EQ(GivesWayAt(1), 0);
  patience_.SetShared(false);
  patience_.OnHaste(2);
  EXPECT_EQ(GivesWayAt(3), 0);
  EXPECT_EQ(GivesWayAt(2 + kHasteMs), 0);
  EXPECT_EQ(changes_, std::vector<bool>());
}

TEST_F(LanePatienceTest, ALaneOfASharedPortGivesWay) {
  patience_.SetShared(true);
  patience_.SetShared(true);
  EXPECT_EQ(GivesWayAt(1), 1);
  patience_.SetShared(false);
  EXPECT_EQ(GivesWayAt(2), 0);
  EXPECT_EQ(changes_, (std::vector<bool>{true, false}));
}

TEST_F(LanePatienceTest, HasteEndsThisLongAfterTheLastReason) {
  patience_.SetShared(true);
  patience_.OnHaste(1000);
  EXPECT_EQ(GivesWayAt(1000), 0);
  patience_.OnHaste(1050);
  EXPECT_EQ(GivesWayAt(1050 + kHasteMs - 1), 0);
  EXPECT_EQ(changes_, (std::vector<bool>{true, false})) << "one system call for all of it";
  EXPECT_EQ(GivesWayAt(1050 + kHasteMs), 1);
  EXPECT_EQ(changes_, (std::vector<bool>{true, false, true}));
}

TEST_F(LanePatienceTest, OnlyTheMemberThatIsBlockedTellsOthers) {
  patience_.SetShared(true);
  patience_.OnHaste(1000);
  EXPECT_FALSE(patience_.TellsHaste(1000))
      << "otherwise two members would tell each other for ever";
  patience_.OnBlocked(2000);
  EXPECT_EQ(GivesWayAt(2000), 0);
  EXPECT_TRUE(patience_.TellsHaste(2000 + kHasteMs - 1));
  EXPECT_FALSE(patience_.TellsHaste(2000 + kHasteMs));
}

TEST_F(LanePatienceTest, APortThatIsSharedDuringHasteIsSharedAfterIt) {
  patience_.OnHaste(1000);
  patience_.SetShared(true);
  EXPECT_EQ(GivesWayAt(1001), 0);
  EXPECT_EQ(changes_, std::vector<bool>());
  EXPECT_EQ(GivesWayAt(1000 + kHasteMs), 1);
  EXPECT_EQ(changes_, std::vector<bool>{true});
}

#ifdef SCHED_BATCH
// Without the kernel's consent, a lane would stay in the policy in which nothing is urgent.
TEST(LanePatienceThreadTest, TheKernelHearsOfPatienceAndHaste) {
  std::thread lane([] {
    const auto policy = [] {
      int policy = 0;
      sched_param parameters{};
      EXPECT_EQ(pthread_getschedparam(pthread_self(), &policy, &parameters), 0);
      return policy;
    };
    if (policy() != SCHED_OTHER) GTEST_SKIP() << "somebody has chosen a policy";
    LanePatience patience;
    patience.SetShared(true);
    EXPECT_EQ(policy(), SCHED_BATCH);
    patience.OnHaste(1000);
    EXPECT_EQ(policy(), SCHED_OTHER);
    patience.BeginPass(1000 + kHasteMs);
    EXPECT_EQ(policy(), SCHED_BATCH);
  });
  lane.join();
}
#endif

}  // namespace
}  // namespace httpsys::engine
