// When a client takes too little: the arithmetic, with times and counts that the test names.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/connection/output_queue.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kRate = 150;
constexpr uint64_t kAverageMs = 60'000;
constexpr uint64_t kLookMs = kAverageMs / SendRateWatch::kLooks;
constexpr uint32_t kSegmentBytes = 1448;

// A connection whose socket takes `taken_step` bytes from one look to the next, and whose client
// acknowledges `acknowledged_step`.
class SendRateTest : public testing::Test {
 protected:
  // The time at which it is too slow, or 0 if it is not within an hour.
  uint64_t RunForAnHour(uint64_t taken_step, uint64_t acknowledged_step, uint64_t every_looks = 1,
                        uint32_t segment_bytes = kSegmentBytes) {
    for (uint64_t look = 1; look <= 360; ++look) {
      now_ms_ += kLookMs;
      taken_ += taken_step;
      if (look % every_looks == 0) acknowledged_ += acknowledged_step;
      const bool is_slow =
          watch_.IsTooSlow(now_ms_, taken_, kRate, kAverageMs, [&](Acknowledged* to) {
            ++asked_;
            *to = {acknowledged_, segment_bytes};
            return true;
          });
      if (is_slow) return now_ms_;
    }
    return 0;
  }

  SendRateWatch watch_;
  uint64_t now_ms_ = 1'000;
  uint64_t taken_ = 0;
  uint64_t acknowledged_ = 5'000'000;
  int asked_ = 0;
};

TEST_F(SendRateTest, AClientThatTakesNothingIsTooSlowAfterTheAverage) {
  const uint64_t at_ms = RunForAnHour(0, 0);
  EXPECT_GE(at_ms, kAverageMs);
  EXPECT_LE(at_ms, 2 * kAverageMs);
}

TEST_F(SendRateTest, TenBytesASecondAreTooFew) { EXPECT_NE(RunForAnHour(0, 100), 0u); }

TEST_F(SendRateTest, AKilobyteASecondIsEnoughThoughTheSocketTakesNothing) {
  EXPECT_EQ(RunForAnHour(0, 10'240), 0u);
}

TEST_F(SendRateTest, JustTheRateIsEnough) { EXPECT_EQ(RunForAnHour(0, 1'500), 0u); }

TEST_F(SendRateTest, LessThanTheRateIsNot) { EXPECT_NE(RunForAnHour(0, 1'400), 0u); }

TEST_F(SendRateTest, AClientThatTellsOfAWholeMinuteAtOnceIsNotTooSlow) {
  EXPECT_EQ(RunForAnHour(0, 60 * 1'024, 6), 0u);
}

TEST_F(SendRateTest, LongSegmentsMayComeLater) {
  EXPECT_EQ(RunForAnHour(0, 65'483, 8, 65'483), 0u);
}

TEST_F(SendRateTest, AClientThatTakesNothingIsNotKeptForItsLongSegments) {
  const uint64_t at_ms = RunForAnHour(0, 0, 1, 65'483);
  EXPECT_NE(at_ms, 0u);
  EXPECT_LE(at_ms, 3 * kAverageMs);
}

// What one look wants, once in every 70 s: 21 bytes a second.
TEST_F(SendRateTest, OneLargeStepNowAndThenDoesNotBeginTheAverageAnew) {
  bool is_slow = false;
  for (uint64_t look = 1; look <= 60 && !is_slow; ++look) {
    now_ms_ += kLookMs;
    if (look % 7 == 0) {
      taken_ += kRate * kLookMs / 1000;
      acknowledged_ += kRate * kLookMs / 1000;
    }
    is_slow = watch_.IsTooSlow(now_ms_, taken_, kRate, kAverageMs, [&](Acknowledged* to) {
      *to = {acknowledged_, kSegmentBytes};
      return true;
    });
  }
  EXPECT_TRUE(is_slow);
}

TEST_F(SendRateTest, AConnectionWhoseSocketTakesEnoughIsNotAskedAbout) {
  EXPECT_EQ(RunForAnHour(kRate * kLookMs / 1000, 0), 0u);
  EXPECT_EQ(asked_, 0);
}

TEST_F(SendRateTest, TakingAByteNowAndThenDoesNotCount) { EXPECT_NE(RunForAnHour(1, 1), 0u); }

TEST_F(SendRateTest, AStopAfterMuchHasMovedIsAveragedByItself) {
  EXPECT_EQ(RunForAnHour(1'000'000, 1'000'000), 0u);
  const uint64_t began_ms = now_ms_;
  EXPECT_GE(RunForAnHour(0, 0), began_ms + kAverageMs);
}

TEST_F(SendRateTest, TimeBeforeARestartDoesNotCount) {
  for (int minute = 0; minute < 60; ++minute) {
    for (uint64_t look = 1; look < SendRateWatch::kLooks; ++look) {
      now_ms_ += kLookMs;
      EXPECT_FALSE(watch_.IsTooSlow(now_ms_, taken_, kRate, kAverageMs, [&](Acknowledged* to) {
        *to = {acknowledged_, kSegmentBytes};
        return true;
      }));
    }
    watch_.Restart();
  }
  EXPECT_NE(RunForAnHour(0, 0), 0u);
}

TEST_F(SendRateTest, WhereTheSystemDoesNotTellNobodyIsTooSlow) {
  for (int look = 1; look < 100; ++look) {
    now_ms_ += kLookMs;
    EXPECT_FALSE(
        watch_.IsTooSlow(now_ms_, 0, kRate, kAverageMs, [](Acknowledged*) { return false; }));
  }
}

TEST(AcknowledgedTest, AUnixSocketHasNone) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Acknowledged got;
  EXPECT_FALSE(ReadAcknowledged(ends[0], &got));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace httpsys::engine
