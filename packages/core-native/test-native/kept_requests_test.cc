#include <gtest/gtest.h>

#include <string>

#include "engine/peers/relays.h"

namespace httpsys::engine {
namespace {

TEST(KeptRequestsTest, AnAnswerTakesTheFirstRequestAway) {
  KeptRequests kept;
  kept.Begin();
  kept.Append("first ");
  kept.Append("body ");
  kept.Begin();
  kept.Append("second ");
  kept.Begin();
  kept.Append("third");
  kept.OnAnswered();
  EXPECT_TRUE(kept.has_all());
  EXPECT_EQ(kept.Take(), "second third");
}

TEST(KeptRequestsTest, NothingIsKeptOfTheRestOfAnAnsweredRequest) {
  KeptRequests kept;
  kept.Begin();
  kept.Append("head ");
  kept.OnAnswered();
  kept.Append("body");
  kept.Begin();
  kept.Append("second");
  EXPECT_EQ(kept.Take(), "second");
}

TEST(KeptRequestsTest, WhatFollowsALongRequestIsKept) {
  KeptRequests kept;
  kept.Begin();
  kept.Append("small");
  kept.Begin();
  kept.Append(std::string(limits::kRelayKeptBytesMax, 'x'));
  kept.Append("more");
  kept.Begin();
  kept.Append("third");
  EXPECT_FALSE(kept.has_all());
  kept.OnAnswered();
  EXPECT_FALSE(kept.has_all());
  kept.OnAnswered();
  EXPECT_TRUE(kept.has_all());
  EXPECT_EQ(kept.Take(), "third");
}

TEST(KeptRequestsTest, AllMayBeAnswered) {
  KeptRequests kept;
  for (int i = 0; i < 3; ++i) {
    kept.Begin();
    kept.Append("request");
    kept.OnAnswered();
    EXPECT_TRUE(kept.has_all());
    EXPECT_EQ(kept.Take(), "");
  }
}

}  // namespace
}  // namespace httpsys::engine
