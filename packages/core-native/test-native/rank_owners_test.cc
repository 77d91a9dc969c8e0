// How often the kernel is asked who has a rank of a meeting place.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/limits.h"
#include "sharing/meeting_place.h"

namespace httpsys::sharing {
namespace {

class RankOwnersTest : public testing::Test {
 protected:
  std::set<std::string> strangers_;
  int asked_ = 0;
  RankOwners owners_{[this](const std::string& name) {
    ++asked_;
    return strangers_.contains(name);
  }};
};

TEST_F(RankOwnersTest, TheKernelIsAskedOnceInAWhile) {
  strangers_ = {"8080-1"};
  uint64_t now_ms = 5;
  // A coordinator looks before each input.
  for (; now_ms < 5 + limits::kRankOwnerMs; ++now_ms) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(owners_.IsStrangers("8080-1", now_ms));
  }
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(owners_.IsStrangers("8080-1", now_ms));
  EXPECT_EQ(asked_, 2);
}

TEST_F(RankOwnersTest, EachNameIsAskedForByItself) {
  strangers_ = {"8080-1"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(owners_.IsStrangers("8080-1", 0));
    EXPECT_FALSE(owners_.IsStrangers("8080-2", 0));
    EXPECT_FALSE(owners_.IsStrangers("9090-1", 0));
  }
  EXPECT_EQ(asked_, 3);
}

TEST_F(RankOwnersTest, AnAnswerIsNotBelievedForLong) {
  strangers_ = {"8080-1"};
  EXPECT_TRUE(owners_.IsStrangers("8080-1", 0));
  strangers_.clear();
  EXPECT_TRUE(owners_.IsStrangers("8080-1", limits::kRankOwnerMs - 1));
  EXPECT_FALSE(owners_.IsStrangers("8080-1", limits::kRankOwnerMs));
}

}  // namespace
}  // namespace httpsys::sharing
