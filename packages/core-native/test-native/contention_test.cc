#include "base/contention.h"

#include <gtest/gtest.h>

namespace httpsys {
namespace {

int SkippedBeforeNext(WaitBackoff* waits) {
  int skipped = 0;
  while (waits->Skip()) ++skipped;
  return skipped;
}

TEST(WaitBackoff, LeavesOutMoreAfterEachOneInVain) {
  WaitBackoff waits;
  EXPECT_EQ(SkippedBeforeNext(&waits), 0);
  for (const int expected : {1, 3, 7, 15, 31, 31}) {
    waits.OnWaited(true);
    EXPECT_EQ(SkippedBeforeNext(&waits), expected);
  }
}

TEST(WaitBackoff, OneThatBroughtSomethingEndsIt) {
  WaitBackoff waits;
  waits.OnWaited(true);
  waits.OnWaited(true);
  waits.OnWaited(false);
  EXPECT_FALSE(waits.Skip());
  waits.OnWaited(true);
  EXPECT_EQ(SkippedBeforeNext(&waits), 1);
}

using Step = Standby::Step;

constexpr size_t kRoom = 512;

TEST(Standby, LeavesConnectionsToTheOneOnDuty) {
  Standby standby;
  // It takes them, however many come.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(standby.Look(i % 3 == 2 ? 20 : 100, kRoom), Step::kLeave);
}

TEST(Standby, TakesThemWhenHalfTheRoomIsFilled) {
  Standby standby;
  EXPECT_EQ(standby.Look(kRoom / 2 - 1, kRoom), Step::kLeave);
  EXPECT_EQ(standby.Look(kRoom / 2, kRoom), Step::kTake);
  EXPECT_EQ(standby.Look(1, 1), Step::kTake);
}

TEST(Standby, TakesThemWhenNobodyElseDoes) {
  Standby standby;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < limits::kAcceptLooksUntouchedMax; ++i) {
      EXPECT_EQ(standby.Look(1, kRoom), Step::kLeave);
    }
    EXPECT_EQ(standby.Look(1, kRoom), Step::kTake);
  }
}

TEST(Standby, RestsWithoutLoad) {
  Standby standby;
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < limits::kAcceptLooksQuietMax; ++i) {
      EXPECT_EQ(standby.Look(0, kRoom), Step::kLeave);
    }
    EXPECT_EQ(standby.Look(0, kRoom), Step::kRest);
  }
}

TEST(Standby, OneConnectionIsLoad) {
  Standby standby;
  for (int i = 1; i < limits::kAcceptLooksQuietMax; ++i) standby.Look(0, kRoom);
  EXPECT_EQ(standby.Look(1, kRoom), Step::kLeave);
  EXPECT_EQ(standby.Look(0, kRoom), Step::kLeave);
}

}  // namespace
}  // namespace httpsys
