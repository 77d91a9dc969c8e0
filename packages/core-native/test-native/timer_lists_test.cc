#include <gtest/gtest.h>

#include <array>

#include "base/limits.h"
#include "engine/connection/connection_timers.h"

namespace httpsys::engine {
namespace {

TEST(TimerListsTest, NodesExpireInOrderOfTheirDeadlines) {
  TimerLists timers;
  TimerNode slow;
  TimerNode fast;
  EXPECT_TRUE(timers.Start(&slow, 0, 100));
  EXPECT_TRUE(timers.Start(&fast, 10, 20));
  EXPECT_EQ(timers.NextDeadline(), 30u);
  EXPECT_EQ(timers.TakeExpired(29), nullptr);
  EXPECT_EQ(timers.TakeExpired(30), &fast);
  EXPECT_EQ(timers.TakeExpired(99), nullptr);
  EXPECT_EQ(timers.TakeExpired(100), &slow);
  EXPECT_EQ(timers.NextDeadline(), UINT64_MAX);
}

TEST(TimerListsTest, AStoppedNodeDoesNotExpireAndARestartedOneExpiresOnce) {
  TimerLists timers;
  TimerNode a;
  TimerNode b;
  TimerNode c;
  timers.Start(&a, 0, 10);
  EXPECT_FALSE(timers.Start(&b, 1, 10));
  timers.Start(&c, 2, 10);
  timers.Stop(&b);
  timers.Stop(&b);
  EXPECT_FALSE(b.is_timer_running());
  timers.Start(&a, 5, 10);
  EXPECT_EQ(timers.TakeExpired(100), &c);
  EXPECT_EQ(timers.TakeExpired(100), &a);
  EXPECT_EQ(timers.TakeExpired(100), nullptr);
}

TEST(TimerListsTest, TooManyDurationsShareShorterOnes) {
  TimerLists timers;
  std::array<TimerNode, limits::kTimerListsMax> nodes;
  for (size_t i = 0; i < nodes.size(); ++i) timers.Start(&nodes[i], 0, 1000 + i * 10);
  TimerNode shared;
  timers.Start(&shared, 0, 1015);
  EXPECT_EQ(shared.deadline_ms, 1010u);
  TimerNode shortest;
  timers.Start(&shortest, 0, 5);
  EXPECT_EQ(shortest.deadline_ms, 1000u);
  timers.Stop(&nodes[3]);
  timers.Start(&shortest, 0, 5);
  EXPECT_EQ(shortest.deadline_ms, 5u);
}

}  // namespace
}  // namespace httpsys::engine
