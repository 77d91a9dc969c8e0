#include "engine/cache/leading_lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace httpsys::engine {
namespace {

using Event = LeadingLanes::Event;

// A lane that keeps what it is told.
struct Lane {
  explicit Lane(LeadingLanes* all) : lanes(all) {
    lanes->Enter(this,
                 [this](const std::string& key, Event event) { told.push_back({key, event}); });
  }
  ~Lane() { lanes->Leave(this); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  struct Told {
    std::string key;
    Event event;
    bool operator==(const Told&) const = default;
  };
  LeadingLanes* lanes;
  std::vector<Told> told;
};

class ThreeLanesTest : public testing::Test {
 protected:
  LeadingLanes lanes_;
  Lane a_{&lanes_};
  Lane b_{&lanes_};
  Lane c_{&lanes_};
};

TEST(LeadingLanesTest, AKeyThatALaneHasClaimedIsFreeWhenTheLaneHasPassedItOrLeft) {
  LeadingLanes lanes;
  Lane a(&lanes);
  {
    Lane b(&lanes);
    EXPECT_TRUE(lanes.Claim(&b, "key"));
    EXPECT_FALSE(lanes.Claim(&a, "key"));
    EXPECT_FALSE(lanes.Claim(&b, "key"));
    EXPECT_TRUE(lanes.Claim(&a, "other"));
    lanes.Pass(&a, "key");
    EXPECT_FALSE(lanes.Claim(&a, "key"));
    lanes.Pass(&b, "key");
    EXPECT_TRUE(lanes.Claim(&a, "key"));
    lanes.Finish(&a, "key", Event::kUnknown);
    EXPECT_TRUE(lanes.Claim(&b, "key"));
  }
  EXPECT_TRUE(lanes.Claim(&a, "key"));
  // A lane whose claim was refused is not told.
  EXPECT_TRUE(a.told.empty());
}

TEST_F(ThreeLanesTest, TellsThoseThatWaitWhatHasBecomeOfTheResponse) {
  EXPECT_TRUE(lanes_.Begin(&a_, "key"));
  EXPECT_TRUE(lanes_.Begin(&a_, "key"));
  EXPECT_FALSE(lanes_.Begin(&b_, "key"));
  EXPECT_FALSE(lanes_.Begin(&b_, "key"));
  EXPECT_TRUE(lanes_.Begin(&c_, "other"));
  lanes_.Finish(&b_, "key", Event::kStored);
  EXPECT_TRUE(b_.told.empty());
  lanes_.Finish(&a_, "key", Event::kRefused);
  EXPECT_EQ(b_.told, (std::vector<Lane::Told>{{"key", Event::kRefused}}));
  EXPECT_TRUE(a_.told.empty());
  EXPECT_TRUE(c_.told.empty());
  EXPECT_TRUE(lanes_.Begin(&b_, "key"));
}

TEST_F(ThreeLanesTest, LetsTheLaneLeadThatHasWaitedLongest) {
  EXPECT_TRUE(lanes_.Begin(&a_, "key"));
  EXPECT_FALSE(lanes_.Begin(&c_, "key"));
  EXPECT_FALSE(lanes_.Begin(&b_, "key"));
  lanes_.Pass(&b_, "key");
  EXPECT_TRUE(c_.told.empty());
  lanes_.Pass(&a_, "key");
  EXPECT_EQ(c_.told, (std::vector<Lane::Told>{{"key", Event::kLeadsNow}}));
  EXPECT_TRUE(b_.told.empty());
  lanes_.Finish(&c_, "key", Event::kStored);
  EXPECT_EQ(b_.told, (std::vector<Lane::Told>{{"key", Event::kStored}}));
  EXPECT_TRUE(lanes_.Begin(&a_, "key"));
  lanes_.Pass(&a_, "key");
  EXPECT_TRUE(lanes_.Begin(&b_, "key"));
}

TEST(LeadingLanesTest, PassesWhatALaneLeadsWhenItLeaves) {
  LeadingLanes lanes;
  Lane b(&lanes);
  Lane c(&lanes);
  {
    Lane a(&lanes);
    EXPECT_TRUE(lanes.Begin(&a, "one"));
    EXPECT_TRUE(lanes.Begin(&a, "two"));
    EXPECT_TRUE(lanes.Begin(&c, "three"));
    EXPECT_FALSE(lanes.Begin(&b, "one"));
    EXPECT_FALSE(lanes.Begin(&a, "three"));
  }
  EXPECT_EQ(b.told, (std::vector<Lane::Told>{{"one", Event::kLeadsNow}}));
  lanes.Finish(&c, "three", Event::kStored);
  EXPECT_TRUE(lanes.Begin(&c, "two"));
}

TEST_F(ThreeLanesTest, FreesAKeyThatALaneHasGivenUpWhoeverLeads) {
  EXPECT_TRUE(lanes_.Begin(&a_, "key"));
  EXPECT_FALSE(lanes_.Begin(&b_, "key"));
  EXPECT_FALSE(lanes_.Begin(&c_, "key"));
  lanes_.GiveUp("key");
  EXPECT_EQ(b_.told, (std::vector<Lane::Told>{{"key", Event::kUnknown}}));
  EXPECT_EQ(c_.told, b_.told);
  EXPECT_TRUE(a_.told.empty());
  EXPECT_TRUE(lanes_.Begin(&b_, "key"));
  // The one that led before has no say any more.
  lanes_.Finish(&a_, "key", Event::kStored);
  EXPECT_FALSE(lanes_.Begin(&c_, "key"));
}

TEST(LeadingLanesTest, AsksTheLaneThatLeadsToLook) {
  LeadingLanes lanes;
  Lane a(&lanes);
  lanes.Look("key");
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  lanes.Look("key");
  EXPECT_EQ(a.told, (std::vector<Lane::Told>{{"key", Event::kLook}}));
}

TEST(LeadingLanesTest, LetsEachLaneAskForItselfBeyondItsBound) {
  LeadingLanes lanes;
  Lane a(&lanes);
  Lane b(&lanes);
  for (size_t i = 0; i < LeadingLanes::kKeysMax; ++i) {
    ASSERT_TRUE(lanes.Begin(&a, std::to_string(i)));
  }
  EXPECT_TRUE(lanes.Begin(&a, "one more"));
  EXPECT_TRUE(lanes.Begin(&b, "one more"));
  EXPECT_FALSE(lanes.Begin(&b, "0"));
}

// Threads that lead, wait, pass and leave: at any time one of them leads, and who waits is told.
TEST(LeadingLanesTest, HasOneLeaderAmongThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  LeadingLanes lanes;
  std::atomic<int> leading = 0;
  std::atomic<bool> has_failed = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < kRounds; ++round) {
        std::atomic<int> told = 0;  // 1 = go on, 2 = leads now.
        lanes.Enter(&told, [&told](const std::string&, Event event) {
          told = event == Event::kLeadsNow ? 2 : 1;
        });
        bool leads = lanes.Begin(&told, "key");
        while (!leads && told == 0) std::this_thread::yield();
        leads = leads || told == 2;
        if (leads) {
          if (leading.fetch_add(1) != 0) has_failed = true;
          leading.fetch_sub(1);
          if ((round + number) % 3 == 0) lanes.Finish(&told, "key", Event::kStored);
          if ((round + number) % 3 == 1) lanes.Pass(&told, "key");
        }
        lanes.Leave(&told);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(has_failed);
}

}  // namespace
}  // namespace httpsys::engine
