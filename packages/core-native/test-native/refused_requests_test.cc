#include "records/refused_requests.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "records/words.h"

namespace httpsys {
namespace {

using records::RequestType;

// A lane with its queue and the JavaScript thread that reads it. Word 3 of a record is its number.
class RefusedRequestsTest : public testing::Test {
 protected:
  static constexpr size_t kSegments = 4;
  static constexpr size_t kSegmentBytes = 4096;
  static constexpr size_t kRecordBytes = 32;

  RefusedRequestsTest() : memory_(kSegments, std::vector<uint64_t>(kSegmentBytes / 8)) {
    std::vector<std::span<uint8_t>> segments;
    for (auto& segment : memory_) {
      segments.emplace_back(reinterpret_cast<uint8_t*>(segment.data()), kSegmentBytes);
    }
    queue_ = std::make_unique<RequestQueue>(segments);
    queue_->set_reading(&reading_);
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
      reading_.store(region.start, std::memory_order_relaxed);
      queue_->BeginReading();
      const auto* memory = reinterpret_cast<const uint8_t*>(memory_[region.segment].data());
      uint32_t at = region.start;
      while (at < region.end && count < most) {
        const uint32_t next = at + LoadWord(memory + at, 0);
        reading_.store(next, std::memory_order_seq_cst);
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
  bool IsRefused() {
    return refused_count_.load(std::memory_order_seq_cst) != 0 && refused_.Take(queue_->begun());
  }

  std::vector<std::vector<uint64_t>> memory_;
  std::unique_ptr<RequestQueue> queue_;
  std::atomic<uint32_t> reading_{0};
  std::atomic<uint32_t> refused_count_{0};
  RefusedRequests refused_{&refused_count_};
};

TEST_F(RefusedRequestsTest, ARequestThatWasBegunCannotBeRefused) {
  const uint64_t end = Append(RequestType::kRequest, 1, 1);
  queue_->Publish();
  Read(1, [&](RequestType, uint32_t, uint32_t) {
    EXPECT_FALSE(IsRefused());
    EXPECT_FALSE(refused_.Claim(end, *queue_));
  });
  EXPECT_EQ(refused_count_, 0u);
}

TEST_F(RefusedRequestsTest, WhatNobodyAskedAboutLeavesWithTheNextQuestion) {
  const uint64_t first = Append(RequestType::kRequest, 1, 1);
  Append(RequestType::kRequest, 1, 2);
  queue_->Publish();
  EXPECT_TRUE(refused_.Claim(first, *queue_));
  EXPECT_EQ(refused_count_, 1u);
  Read(1, [](RequestType, uint32_t, uint32_t) {});
  Read(1, [&](RequestType, uint32_t, uint32_t) { EXPECT_FALSE(IsRefused()); });
  EXPECT_EQ(refused_count_, 0u);
}

// Connections come and go on a few slots, requests are refused while they wait, and JavaScript
// passes over requests whose sockets it has destroyed: each request that it does not pass over is
// begun if and only if that very request was not refused.
TEST_F(RefusedRequestsTest, SlotsThatAreUsedAgainAtRandomInheritNoRefusal) {
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
      if (!request.is_refused) request.is_refused = refused_.Claim(request.end, *queue_);
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
      const bool is_refused = IsRefused();
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
  EXPECT_FALSE(refused_.Take(queue_->begun()));
  EXPECT_EQ(refused_count_, 0u);
}

TEST_F(RefusedRequestsTest, EachRequestIsEitherBegunOrRefusedWhileBothThreadsRun) {
  constexpr uint32_t kRequests = 20'000;
  std::vector<uint8_t> is_begun(kRequests);
  std::vector<uint8_t> is_refused(kRequests);
  std::thread javascript([&] {
    uint32_t read = 0;
    while (read < kRequests) {
      const size_t count = Read(SIZE_MAX, [&](RequestType, uint32_t, uint32_t number) {
        if (!IsRefused()) is_begun[number] = 1;
        ++read;
      });
      if (count == 0) std::this_thread::yield();
    }
  });
  for (uint32_t number = 0; number < kRequests; ++number) {
    const uint64_t end = Append(RequestType::kRequest, 0, number);
    queue_->Publish();
    if (number % 3 == 0) is_refused[number] = refused_.Claim(end, *queue_) ? 1 : 0;
    while (queue_->appended() - queue_->consumed() > kSegmentBytes) std::this_thread::yield();
  }
  javascript.join();
  for (uint32_t number = 0; number < kRequests; ++number) {
    EXPECT_NE(is_begun[number], is_refused[number]) << "request " << number;
  }
}

}  // namespace
}  // namespace httpsys
