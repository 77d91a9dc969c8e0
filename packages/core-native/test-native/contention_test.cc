#include "common/contention.h"

#include <gtest/gtest.h>

namespace httpsys {
namespace {

int SkippedBeforeNext(NapBackoff* naps) {
  int skipped = 0;
  while (naps->Skip()) ++skipped;
  return skipped;
}

TEST(NapBackoff, LeavesOutMoreAfterEachNapInVain) {
  NapBackoff naps;
  EXPECT_EQ(SkippedBeforeNext(&naps), 0);
  for (const int expected : {1, 3, 7, 15, 31, 31}) {
    naps.OnNap(true);
    EXPECT_EQ(SkippedBeforeNext(&naps), expected);
  }
}

TEST(NapBackoff, OneThatBroughtSomethingEndsIt) {
  NapBackoff naps;
  naps.OnNap(true);
  naps.OnNap(true);
  naps.OnNap(false);
  EXPECT_FALSE(naps.Skip());
  naps.OnNap(true);
  EXPECT_EQ(SkippedBeforeNext(&naps), 1);
}

TEST(LookBackoff, LooksInTime) {
  LookBackoff looks;
  EXPECT_FALSE(looks.Skip(100, 100));
  EXPECT_FALSE(looks.Skip(100, 100 + limits::kAcceptLateMs - 1));
}

TEST(LookBackoff, LeavesOutLateOnesButNotAll) {
  LookBackoff looks;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < limits::kAcceptLooksSkippedMax; ++i) {
      EXPECT_TRUE(looks.Skip(100, 100 + limits::kAcceptLateMs));
    }
    EXPECT_FALSE(looks.Skip(100, 100 + limits::kAcceptLateMs));
  }
}

TEST(LookBackoff, OneInTimeBeginsAnew) {
  LookBackoff looks;
  for (int i = 0; i < limits::kAcceptLooksSkippedMax; ++i) looks.Skip(100, 200);
  EXPECT_FALSE(looks.Skip(300, 300));
  EXPECT_TRUE(looks.Skip(100, 200));
}

}  // namespace
}  // namespace httpsys
