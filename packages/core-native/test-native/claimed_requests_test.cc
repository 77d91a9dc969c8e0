#include "records/claimed_requests.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "records/words.h"

namespace httpsys {
namespace {

using records::Claim;
using records::RequestType;

// A lane with its queue and the JavaScript thread that reads it. Word 3 of a record is its number.
// Runs for lanes that make the barrier for JavaScript, and for those that cannot.
class ClaimedRequestsTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr size_t kSegments = 4;
  static constexpr size_t kSegmentBytes = 4096;
  static constexpr size_t kRecordBytes = 32;

  ClaimedRequestsTest() : memory_(kSegments, std::vector<uint64_t>(kSegmentBytes / 8)) {
    std::vector<std::span<uint8_t>> segments;
    for (auto& segment : memory_) {
      segments.emplace_back(reinterpret_cast<uint8_t*>(segment.data()), kSegmentBytes);
    }
    queue_ = std::make_unique<RequestQueue>(segments);
    queue_->set_reading(&reading_);
  }

  void SetUp() override {
    if (!GetParam()) return;
    for (int i = 0; i < 1000 && claims_.needs_flag(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (claims_.needs_flag()) GTEST_SKIP() << "this system has no barrier for a whole process";
  }

  // Thread: the lane. Where the record ends.
  uint64_t Append(RequestType type, uint32_t slot, uint32_t number) {
    uint8_t* record = queue_->Append(kRecordBytes);
    StoreHeader(record, kRecordBytes, type, 0, slot);
    StoreWord(record, 3, number);
    return queue_->appended();
  }

  // Thread: JavaScript. Calls `handle` for up to `most` records, in the way of Engine's dispatch.
  template <typename Handle>
  size_t Read(size_t most, Handle handle) {
    size_t count = 0;
    RequestQueue::Region region;
    while (count < most && queue_->Next(&region)) {
      reading_.store(region.start, std::memory_order_release);
      queue_->BeginReading();
      const auto* memory = reinterpret_cast<const uint8_t*>(memory_[region.segment].data());
      uint32_t at = region.start;
      while (at < region.end && count < most) {
        const uint32_t next = at + LoadWord(memory + at, 0);
        reading_.store(next, std::memory_order_relaxed);
        const auto type = static_cast<RequestType>(LoadWord(memory + at, 1) & 0xff);
        handle(type, LoadWord(memory + at, 2), LoadWord(memory + at, 3));
        at = next;
        ++count;
      }
      queue_->Consume(at);
    }
    return count;
  }

  // Thread: JavaScript, within Read(). As exchange.js asks.
  Claim TakeClaim() {
    if (claims_.needs_flag()) {
      reading_.store(reading_.load(std::memory_order_relaxed), std::memory_order_seq_cst);
    }
    // The compiler must not change the order, as JavaScript's does not.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return claim_count_.load(std::memory_order_relaxed) == 0 ? Claim::kNone
                                                             : claims_.Take(queue_->begun());
  }
  bool IsClaimed() { return TakeClaim() != Claim::kNone; }

  std::vector<std::vector<uint64_t>> memory_;
  std::unique_ptr<RequestQueue> queue_;
  std::atomic<uint32_t> reading_{0};
  std::atomic<uint32_t> claim_count_{0};
  ClaimedRequests claims_{&claim_count_, GetParam()};
};

TEST_P(ClaimedRequestsTest, ARequestThatWasBegunCannotBeRefused) {
  const uint64_t end = Append(RequestType::kRequest, 1, 1);
  queue_->Publish();
  Read(1, [&](RequestType, uint32_t, uint32_t) {
    EXPECT_FALSE(IsClaimed());
    EXPECT_FALSE(claims_.Add(end, Claim::kRefused, *queue_));
  });
  EXPECT_EQ(claim_count_, 0u);
}

TEST_P(ClaimedRequestsTest, JavaScriptIsToldWhatHasBecomeOfARequestOnce) {
  const uint64_t refused = Append(RequestType::kRequest, 1, 1);
  const uint64_t moved = Append(RequestType::kRequest, 2, 2);
  queue_->Publish();
  EXPECT_TRUE(claims_.Add(moved, Claim::kMoved, *queue_));
  EXPECT_TRUE(claims_.Add(refused, Claim::kRefused, *queue_));
  std::vector<Claim> told;
  Read(2, [&](RequestType, uint32_t, uint32_t) {
    told.push_back(TakeClaim());
    told.push_back(TakeClaim());
  });
  EXPECT_EQ(told, (std::vector<Claim>{Claim::kRefused, Claim::kNone, Claim::kMoved, Claim::kNone}));
}

TEST_P(ClaimedRequestsTest, WhatNobodyAskedAboutLeavesWithTheNextQuestion) {
  const uint64_t first = Append(RequestType::kRequest, 1, 1);
  Append(RequestType::kRequest, 1, 2);
  queue_->Publish();
  EXPECT_TRUE(claims_.Add(first, Claim::kMoved, *queue_));
  EXPECT_EQ(claim_count_, 1u);
  Read(1, [](RequestType, uint32_t, uint32_t) {});
  Read(1, [&](RequestType, uint32_t, uint32_t) { EXPECT_FALSE(IsClaimed()); });
  EXPECT_EQ(claim_count_, 0u);
}

// Connections come and go on a few slots, requests are refused while they wait, and JavaScript
// passes over requests whose sockets it has destroyed: each request that it does not pass over is
// begun if and only if that very request was not refused.
TEST_P(ClaimedRequestsTest, SlotsThatAreUsedAgainAtRandomInheritNoRefusal) {
  struct Request {
    uint64_t end;
    bool is_refused;
  };
  constexpr uint32_t kSlots = 5;
  std::mt19937 random(20);
  const auto chance = [&](uint32_t of) { return random() % of == 0; };
  std::vector<bool> is_open(kSlots), is_free(kSlots, true), is_destroyed(kSlots);
  std::vector<Request> requests;
  std::set<uint32_t> unread;
  size_t refused = 0;
  size_t begun = 0;
  size_t passed_over = 0;
  for (int step = 0; step < 200'000; ++step) {
    const uint32_t slot = random() % kSlots;
    if (is_free[slot]) {
      is_free[slot] = false;
      is_open[slot] = true;
      is_destroyed[slot] = false;
    } else if (is_open[slot] && chance(4)) {
      is_open[slot] = false;
      Append(RequestType::kClosed, slot, 0);
    } else if (is_open[slot] && unread.size() < 200) {
      const auto number = static_cast<uint32_t>(requests.size());
      requests.push_back({Append(RequestType::kRequest, slot, number), false});
      unread.insert(number);
    }
    if (chance(10)) is_destroyed[random() % kSlots] = true;
    if (chance(5) && !unread.empty()) {
      const auto at = std::next(unread.begin(), static_cast<int>(random() % unread.size()));
      Request& request = requests[*at];
      if (!request.is_refused)
        request.is_refused = claims_.Add(request.end, Claim::kRefused, *queue_);
      EXPECT_TRUE(request.is_refused);
    }
    if (!chance(4)) continue;
    queue_->Publish();
    Read(random() % 4, [&](RequestType type, uint32_t at, uint32_t number) {
      if (type == RequestType::kClosed) {
        is_free[at] = true;
        return;
      }
      unread.erase(number);
      if (is_destroyed[at]) {
        ++passed_over;
        return;
      }
      const bool is_refused = IsClaimed();
      ASSERT_EQ(is_refused, requests[number].is_refused) << "request " << number;
      ++(is_refused ? refused : begun);
    });
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(begun, 1000u);
  EXPECT_GT(passed_over, 1000u);
  Append(RequestType::kRequest, 0, 0);
  queue_->Publish();
  Read(SIZE_MAX, [](RequestType, uint32_t, uint32_t) {});
  EXPECT_EQ(claims_.Take(queue_->begun()), Claim::kNone);
  EXPECT_EQ(claim_count_, 0u);
}

// The lane claims from the last request to the first, as RequestReclaim does, until JavaScript has
// come to one; JavaScript comes from the other side.
TEST_P(ClaimedRequestsTest, EachRequestRunsExactlyOnceWhileBothThreadsWantIt) {
  // docs/internals/long-checks.md has the last run with ten million.
  const char* const wanted = std::getenv("HTTPSYS_CLAIMS");
  const auto claims_wanted = static_cast<uint32_t>(wanted == nullptr ? 300'000 : std::atol(wanted));
  constexpr uint32_t kBurst = 24;
  constexpr int kHandlerTurns = 20;
  std::atomic<bool> is_over{false};
  std::vector<uint64_t> begun(1);
  std::thread javascript([&] {
    while (true) {
      const bool was_over = is_over.load();
      const size_t count = Read(SIZE_MAX, [&](RequestType, uint32_t, uint32_t number) {
        if (begun.size() <= number / 64) begun.resize(number / 64 + 1);
        if (IsClaimed()) return;
        begun[number / 64] |= uint64_t{1} << number % 64;
        // A handler takes longer than a claim.
        for (int turn = 0; turn < kHandlerTurns; ++turn) (void)claim_count_.load();
      });
      if (count == 0 && was_over) return;
      if (count == 0) std::this_thread::yield();
    }
  });
  std::vector<uint64_t> claimed;
  uint32_t claims = 0;
  uint32_t won = 0;
  uint32_t requests = 0;
  std::mt19937 random(23);
  while (claims < claims_wanted) {
    std::array<uint64_t, kBurst> ends{};
    for (uint64_t& end : ends) end = Append(RequestType::kRequest, 0, requests++);
    claimed.resize(requests / 64 + 1);
    queue_->Publish();
    // The two threads meet anywhere in the burst, or before it.
    const uint32_t before = random() % kBurst;
    const uint64_t meeting = before == 0 ? 0 : ends[before];
    for (int turn = 0; queue_->begun() < meeting; ++turn) {
      if (turn > 1000) std::this_thread::yield();
    }
    for (uint32_t i = kBurst; i-- != 0;) {
      ++claims;
      if (!claims_.Add(ends[i], Claim::kMoved, *queue_)) break;
      const uint32_t number = requests - kBurst + i;
      claimed[number / 64] |= uint64_t{1} << number % 64;
      ++won;
    }
    while (queue_->appended() - queue_->consumed() > kSegmentBytes) std::this_thread::yield();
  }
  is_over = true;
  javascript.join();
  begun.resize(claimed.size());
  for (uint32_t number = 0; number < requests; ++number) {
    const bool is_begun = (begun[number / 64] >> number % 64 & 1) != 0;
    const bool is_claimed = (claimed[number / 64] >> number % 64 & 1) != 0;
    ASSERT_NE(is_begun, is_claimed) << "request " << number;
  }
  // Both have got some of them.
  EXPECT_GT(won, claims_wanted / 1000);
  EXPECT_GT(requests - won, claims_wanted / 1000);
}

INSTANTIATE_TEST_SUITE_P(Barrier, ClaimedRequestsTest, testing::Bool());

}  // namespace
}  // namespace httpsys
