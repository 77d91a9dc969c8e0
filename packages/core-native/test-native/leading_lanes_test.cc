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

TEST(LeadingLanesTest, TellsThoseThatWaitWhatHasBecomeOfTheResponse) {
  LeadingLanes lanes;
  Lane a(&lanes);
  Lane b(&lanes);
  Lane c(&lanes);
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  EXPECT_FALSE(lanes.Begin(&b, "key"));
  EXPECT_FALSE(lanes.Begin(&b, "key"));
  EXPECT_TRUE(lanes.Begin(&c, "other"));
  lanes.Finish(&b, "key", Event::kStored);
  EXPECT_TRUE(b.told.empty());
  lanes.Finish(&a, "key", Event::kRefused);
  EXPECT_EQ(b.told, (std::vector<Lane::Told>{{"key", Event::kRefused}}));
  EXPECT_TRUE(a.told.empty());
  EXPECT_TRUE(c.told.empty());
  EXPECT_TRUE(lanes.Begin(&b, "key"));
}

TEST(LeadingLanesTest, LetsTheLaneLeadThatHasWaitedLongest) {
  LeadingLanes lanes;
  Lane a(&lanes);
  Lane b(&lanes);
  Lane c(&lanes);
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  EXPECT_FALSE(lanes.Begin(&c, "key"));
  EXPECT_FALSE(lanes.Begin(&b, "key"));
  lanes.Pass(&b, "key");
  EXPECT_TRUE(c.told.empty());
  lanes.Pass(&a, "key");
  EXPECT_EQ(c.told, (std::vector<Lane::Told>{{"key", Event::kLeadsNow}}));
  EXPECT_TRUE(b.told.empty());
  lanes.Finish(&c, "key", Event::kStored);
  EXPECT_EQ(b.told, (std::vector<Lane::Told>{{"key", Event::kStored}}));
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  lanes.Pass(&a, "key");
  EXPECT_TRUE(lanes.Begin(&b, "key"));
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

TEST(LeadingLanesTest, FreesAKeyThatALaneHasGivenUpWhoeverLeads) {
  LeadingLanes lanes;
  Lane a(&lanes);
  Lane b(&lanes);
  Lane c(&lanes);
  EXPECT_TRUE(lanes.Begin(&a, "key"));
  EXPECT_FALSE(lanes.Begin(&b, "key"));
  EXPECT_FALSE(lanes.Begin(&c, "key"));
  lanes.GiveUp("key");
  EXPECT_EQ(b.told, (std::vector<Lane::Told>{{"key", Event::kUnknown}}));
  EXPECT_EQ(c.told, b.told);
  EXPECT_TRUE(a.told.empty());
  EXPECT_TRUE(lanes.Begin(&b, "key"));
  // The one that led before has no say any more.
  lanes.Finish(&a, "key", Event::kStored);
  EXPECT_FALSE(lanes.Begin(&c, "key"));
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
