// The token bucket of maxBandwidth, with a clock of the test's own.

#include "base/rate_bucket.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "base/limits.h"

namespace httpsys {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kRate = 1'000'000;
constexpr uint64_t kBurst = kRate * limits::kBandwidthBurstMs / 1000;
constexpr uint64_t kTurn = kRate * limits::kBandwidthTurnMs / 1000;

// Somebody who always has bytes to send, and looks once a millisecond.
struct Taker {
  uint64_t sent = 0;
  uint64_t longest_wait_ms = 0;
  uint64_t ticket = 0;
  uint64_t bytes = 0;
  uint64_t waits_since_ms = 0;

  void Look(RateBucket* bucket, uint64_t now_ms, uint64_t want) {
    const uint64_t now_ns = now_ms * kNsPerMs;
    if (ticket != 0) {
      if (bucket->WaitNs(ticket, now_ns) != 0) return;
      if (now_ms - waits_since_ms > longest_wait_ms) longest_wait_ms = now_ms - waits_since_ms;
      ticket = 0;
      sent += bytes;
    }
    const RateBucket::Taken taken = bucket->Take(want, now_ns);
    if (taken.ticket == 0) {
      sent += taken.bytes;
      return;
    }
    ticket = taken.ticket;
    bytes = taken.bytes;
    waits_since_ms = now_ms;
  }
};

// Lets the takers take for that long. Returns the sum of what they have sent.
uint64_t RunFor(RateBucket* bucket, std::vector<Taker>* takers, uint64_t from_ms, uint64_t until_ms,
                uint64_t want = 1'000'000) {
  for (uint64_t now_ms = from_ms; now_ms < until_ms; ++now_ms) {
    for (Taker& taker : *takers) taker.Look(bucket, now_ms, want);
  }
  uint64_t sum = 0;
  for (const Taker& taker : *takers) sum += taker.sent;
  return sum;
}

TEST(RateBucket, GrantsABurstAtOnceAndThenTheRate) {
  RateBucket bucket(kRate, 0);
  const RateBucket::Taken first = bucket.Take(10 * kRate, 0);
  EXPECT_EQ(first.bytes, kBurst);
  EXPECT_EQ(first.ticket, 0u);
  std::vector<Taker> takers(1);
  const uint64_t sent = RunFor(&bucket, &takers, 0, 10'000);
  EXPECT_LE(sent, 10 * kRate);
  EXPECT_GE(sent, 10 * kRate - 2 * kTurn);
}

TEST(RateBucket, KeepsNoMoreThanABurstHoweverLongNobodyTakes) {
  RateBucket bucket(kRate, 0);
  EXPECT_EQ(bucket.Take(10 * kRate, 3600 * kNsPerSecond).bytes, kBurst);
  EXPECT_NE(bucket.Take(1, 3600 * kNsPerSecond).ticket, 0u);
}

TEST(RateBucket, GivesATicketForATurnThatIsDueAfterItsTime) {
  RateBucket bucket(kRate, 0);
  (void)bucket.Take(kBurst, 0);
  const RateBucket::Taken taken = bucket.Take(10 * kRate, 0);
  EXPECT_EQ(taken.bytes, kTurn);
  ASSERT_NE(taken.ticket, 0u);
  const uint64_t wait_ns = bucket.WaitNs(taken.ticket, 0);
  EXPECT_EQ(wait_ns, limits::kBandwidthTurnMs * kNsPerMs);
  EXPECT_NE(bucket.WaitNs(taken.ticket, wait_ns - 1), 0u);
  EXPECT_EQ(bucket.WaitNs(taken.ticket, wait_ns), 0u);
}

TEST(RateBucket, LetsASmallAnswerLeaveAtOnceWithTheLowestRate) {
  RateBucket bucket(1024, 0);
  EXPECT_EQ(bucket.Take(300, 0).ticket, 0u);
}

TEST(RateBucket, CountsPartsOfAByteWhenItIsAskedOften) {
  RateBucket bucket(1024, 0);
  (void)bucket.Take(limits::kBandwidthBurstBytesMin, 0);
  const RateBucket::Taken taken = bucket.Take(512, 0);
  uint64_t now_ns = 0;
  while (bucket.WaitNs(taken.ticket, now_ns) != 0) now_ns += 1000;
  EXPECT_GE(now_ns, kNsPerSecond / 2);
  EXPECT_LE(now_ns, kNsPerSecond / 2 + 1000);
}

TEST(RateBucket, GivesEveryTakerTheSameAndLetsNobodyWaitLongerThanARound) {
  RateBucket bucket(kRate, 0);
  std::vector<Taker> takers(50);
  const uint64_t sent = RunFor(&bucket, &takers, 0, 60'000);
  EXPECT_LE(sent, 60 * kRate + kBurst);
  EXPECT_GE(sent, 60 * kRate - 50 * kTurn);
  for (const Taker& taker : takers) {
    EXPECT_NEAR(static_cast<double>(taker.sent), 60.0 * kRate / 50, 0.1 * kRate);
    EXPECT_LE(taker.longest_wait_ms, 50 * limits::kBandwidthTurnMs + limits::kBandwidthTurnMs);
  }
}

TEST(RateBucket, LetsWhoWantsLittleWaitNoLongerThanWhoWantsMuch) {
  RateBucket bucket(kRate, 0);
  std::vector<Taker> greedy(9);
  Taker modest;
  for (uint64_t now_ms = 0; now_ms < 10'000; ++now_ms) {
    for (Taker& taker : greedy) taker.Look(&bucket, now_ms, 1'000'000);
    if (now_ms % 500 == 0 || modest.ticket != 0) modest.Look(&bucket, now_ms, 100);
  }
  EXPECT_GE(modest.sent, 19u * 100);
  EXPECT_LE(modest.longest_wait_ms, 11 * limits::kBandwidthTurnMs);
}

TEST(RateBucket, HasAnEqualPartForEachOfItsOwners) {
  constexpr uint64_t kOwners = 4;
  std::deque<RateBucket> buckets;
  std::vector<std::vector<Taker>> takers(kOwners, std::vector<Taker>(3));
  for (uint64_t i = 0; i < kOwners; ++i) buckets.emplace_back(kRate, 0).SetOwners(kOwners, 0);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kOwners; ++i) {
    const uint64_t sent = RunFor(&buckets[i], &takers[i], 0, 20'000);
    EXPECT_NEAR(static_cast<double>(sent), 20.0 * kRate / kOwners, 0.05 * kRate);
    sum += sent;
  }
  EXPECT_LE(sum, 20 * kRate + kBurst);
}

TEST(RateBucket, ChangesItsPartWhileTicketsWait) {
  RateBucket bucket(kRate, 0);
  (void)bucket.Take(kBurst, 0);
  const uint64_t ticket = bucket.Take(kTurn, 0).ticket;
  bucket.SetOwners(10, 0);
  EXPECT_EQ(bucket.WaitNs(ticket, 0), 10 * limits::kBandwidthTurnMs * kNsPerMs);
  bucket.SetOwners(1, 0);
  EXPECT_EQ(bucket.WaitNs(ticket, 0), limits::kBandwidthTurnMs * kNsPerMs);
  std::vector<Taker> takers(2);
  const uint64_t before = RunFor(&bucket, &takers, 0, 10'000);
  bucket.SetOwners(2, 10'000 * kNsPerMs);
  const uint64_t after = RunFor(&bucket, &takers, 10'000, 20'000) - before;
  EXPECT_NEAR(static_cast<double>(before), 10.0 * kRate, 0.1 * kRate);
  EXPECT_NEAR(static_cast<double>(after), 5.0 * kRate, 0.1 * kRate);
}

TEST(RateBucket, LeavesAShareOfTheBurstWhenOwnersCome) {
  RateBucket bucket(kRate, 0);
  bucket.SetOwners(10, 0);
  const RateBucket::Taken taken = bucket.Take(kRate, 0);
  EXPECT_EQ(taken.bytes, kBurst / 10);
}

TEST(RateBucket, GivesBackWhatIsReturned) {
  RateBucket bucket(kRate, 0);
  (void)bucket.Take(kBurst, 0);
  const RateBucket::Taken left = bucket.Take(kTurn, 0);
  const RateBucket::Taken behind = bucket.Take(kTurn, 0);
  EXPECT_EQ(bucket.WaitNs(behind.ticket, 0), 2 * limits::kBandwidthTurnMs * kNsPerMs);
  bucket.Return(left.bytes, 0);
  EXPECT_EQ(bucket.WaitNs(behind.ticket, 0), limits::kBandwidthTurnMs * kNsPerMs);
}

TEST(RateBucket, ReturnsGiveNoMoreThanABurst) {
  RateBucket bucket(kRate, 0);
  for (int i = 0; i < 100; ++i) bucket.Return(kRate, 0);
  EXPECT_EQ(bucket.Take(10 * kRate, 0).bytes, kBurst);
}

TEST(RateBucket, CountsRightWithTheLargestRateAndTheLongestTimes) {
  constexpr uint64_t kMost = UINT32_MAX - 1;
  RateBucket bucket(kMost, 1);
  const uint64_t burst = kMost * limits::kBandwidthBurstMs / 1000;
  EXPECT_EQ(bucket.Take(UINT64_MAX, UINT64_MAX - kNsPerSecond).bytes, burst);
  const RateBucket::Taken taken = bucket.Take(UINT64_MAX, UINT64_MAX - kNsPerSecond);
  EXPECT_EQ(taken.bytes, limits::kBandwidthTurnBytesMax);
  const uint64_t wait_ns = bucket.WaitNs(taken.ticket, UINT64_MAX - kNsPerSecond);
  EXPECT_GT(wait_ns, 0u);
  EXPECT_LT(wait_ns, kNsPerMs);
  EXPECT_EQ(bucket.WaitNs(taken.ticket, UINT64_MAX), 0u);
}

TEST(RateBucket, CountsALongLineWithTheLowestRate) {
  RateBucket bucket(1, 0);
  bucket.SetOwners(UINT64_MAX, 0);
  uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) last = bucket.Take(512, 0).ticket;
  EXPECT_GE(bucket.WaitNs(last, 0), 51'000'000 * kNsPerSecond);
  EXPECT_EQ(bucket.WaitNs(last, 52'000'000 * kNsPerSecond), 0u);
}

TEST(RateBucket, DoesNotMindAClockThatStands) {
  RateBucket bucket(kRate, 5 * kNsPerSecond);
  EXPECT_EQ(bucket.Take(kBurst, 4 * kNsPerSecond).bytes, kBurst);
  EXPECT_NE(bucket.Take(kBurst, 5 * kNsPerSecond).ticket, 0u);
}

}  // namespace
}  // namespace httpsys
