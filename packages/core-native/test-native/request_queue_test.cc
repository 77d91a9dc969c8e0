#include "records/request_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "records/words.h"

namespace httpsys {
namespace {

class RequestQueueTest : public testing::Test {
 protected:
  static constexpr size_t kSegmentBytes = 1024;

  std::vector<std::span<uint8_t>> Segments(size_t count) {
    memory_.assign(count, std::vector<uint64_t>(kSegmentBytes / 8));
    std::vector<std::span<uint8_t>> segments;
    for (auto& segment : memory_) {
      segments.emplace_back(reinterpret_cast<uint8_t*>(segment.data()), kSegmentBytes);
    }
    return segments;
  }

  static void Append(RequestQueue& queue, uint32_t number, size_t bytes) {
    uint8_t* record = queue.Append(bytes);
    StoreHeader(record, bytes, records::RequestType::kBody, 0, number);
  }

  // Slots of all records that can be read now.
  std::vector<uint32_t> Read(RequestQueue& queue, bool* wake = nullptr) {
    std::vector<uint32_t> numbers;
    RequestQueue::Region region;
    while (queue.Next(&region)) {
      const auto* memory = reinterpret_cast<const uint8_t*>(memory_[region.segment].data());
      for (uint32_t at = region.start; at < region.end; at += LoadWord(memory + at, 0)) {
        numbers.push_back(LoadWord(memory + at, 2));
      }
      if (queue.Consume(region.end) && wake != nullptr) *wake = true;
    }
    return numbers;
  }

  std::vector<std::vector<uint64_t>> memory_;
};

TEST_F(RequestQueueTest, RecordsAreReadOncePublishedAndInOrder) {
  RequestQueue queue(Segments(2));
  Append(queue, 1, 16);
  EXPECT_TRUE(Read(queue).empty());
  EXPECT_TRUE(queue.Publish());
  EXPECT_FALSE(queue.Publish());
  EXPECT_TRUE(queue.HasUnread());
  EXPECT_EQ(Read(queue), std::vector<uint32_t>{1});
  EXPECT_FALSE(queue.HasUnread());
}

TEST_F(RequestQueueTest, AReaderThatWasNotToldHasNothingUnread) {
  RequestQueue queue(Segments(2));
  Append(queue, 1, kSegmentBytes - 16);
  Append(queue, 2, 32);
  EXPECT_TRUE(queue.HasUnpublished());
  EXPECT_FALSE(queue.HasUnread()) << "the first one is visible, but who would look?";
  EXPECT_EQ(queue.appended(), kSegmentBytes + 16);
  EXPECT_TRUE(queue.Publish());
  EXPECT_TRUE(queue.HasUnread());
  EXPECT_EQ(queue.appended(), kSegmentBytes + 16);
  EXPECT_EQ(Read(queue), (std::vector<uint32_t>{1, 2}));
  EXPECT_FALSE(queue.HasUnread());
}

TEST_F(RequestQueueTest, AReaderMayReadASealedSegmentBeforeItIsTold) {
  RequestQueue queue(Segments(2));
  Append(queue, 1, kSegmentBytes - 16);
  Append(queue, 2, 32);
  EXPECT_EQ(Read(queue), std::vector<uint32_t>{1});
  EXPECT_FALSE(queue.HasUnread());
  EXPECT_TRUE(queue.Publish());
  EXPECT_TRUE(queue.HasUnread());
  EXPECT_EQ(Read(queue), std::vector<uint32_t>{2});
  EXPECT_FALSE(queue.HasUnread());
}

TEST_F(RequestQueueTest, AFullQueueKeepsRecordsUntilMemoryIsFree) {
  RequestQueue queue(Segments(2));
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 300; ++i) {
    Append(queue, i, 16 + i % 4 * 8);
    expected.push_back(i);
  }
  EXPECT_TRUE(queue.stalled());
  queue.Publish();
  EXPECT_TRUE(queue.stalled());
  std::vector<uint32_t> got;
  for (int i = 0; i < 20; ++i) {
    bool wake = false;
    const auto part = Read(queue, &wake);
    got.insert(got.end(), part.begin(), part.end());
    if (wake) queue.Publish();
  }
  EXPECT_EQ(got, expected);
  EXPECT_FALSE(queue.stalled());
}

TEST_F(RequestQueueTest, APartlyReadRegionComesAgainFromWhereReadingStopped) {
  RequestQueue queue(Segments(2));
  Append(queue, 1, 16);
  Append(queue, 2, 16);
  queue.Publish();
  RequestQueue::Region region;
  ASSERT_TRUE(queue.Next(&region));
  queue.Consume(region.start + 16);
  ASSERT_TRUE(queue.Next(&region));
  EXPECT_EQ(region.start, 16u);
  EXPECT_EQ(region.end, 32u);
}

TEST_F(RequestQueueTest, ARecordLargerThanASegmentIsABlock) {
  RequestQueue queue(Segments(2));
  Append(queue, 7, 4096);
  queue.Publish();
  RequestQueue::Region region;
  ASSERT_TRUE(queue.Next(&region));
  const auto* record = reinterpret_cast<const uint8_t*>(memory_[0].data());
  EXPECT_EQ(LoadWord(record, 1), static_cast<uint32_t>(records::RequestType::kOversize));
  EXPECT_EQ(LoadWord(record, 4), 4096u);
  const Block block = queue.blocks().Take(LoadWord(record, 5));
  ASSERT_NE(block.memory, nullptr);
  EXPECT_EQ(block.bytes, 4096u);
  EXPECT_EQ(LoadWord(block.memory.get(), 2), 7u);
  EXPECT_EQ(queue.blocks().Take(LoadWord(record, 5)).memory, nullptr);
}

TEST_F(RequestQueueTest, AReaderThatKeepsUpNeedsTwoSegmentsOfMany) {
  RequestQueue queue(Segments(4));
  std::set<uint32_t> used;
  for (uint32_t i = 0; i < 1000; ++i) {
    Append(queue, i, 64);
    queue.Publish();
    RequestQueue::Region region;
    ASSERT_TRUE(queue.Next(&region));
    used.insert(region.segment);
    queue.Consume(region.end);
  }
  EXPECT_EQ(used.size(), 2u);
}

TEST_F(RequestQueueTest, KnowsWhatTheReaderHasBegun) {
  RequestQueue queue(Segments(2));
  std::atomic<uint32_t> reading{0};
  queue.set_reading(&reading);
  // The second segment begins with the fourth record.
  std::vector<uint64_t> ends;
  for (uint32_t i = 0; i < 6; ++i) {
    Append(queue, i, i == 2 ? 1024 - 96 : 48);
    ends.push_back(queue.appended());
  }
  queue.Publish();
  EXPECT_EQ(queue.begun(), 0u);
  size_t number = 0;
  RequestQueue::Region region;
  while (queue.Next(&region)) {
    reading = region.start;
    queue.BeginReading();
    const auto* memory = reinterpret_cast<const uint8_t*>(memory_[region.segment].data());
    for (uint32_t at = region.start; at < region.end; at = reading) {
      reading = at + LoadWord(memory + at, 0);
      // It is the one that is being worked on.
      EXPECT_EQ(queue.begun(), ends[number++]);
    }
    queue.Consume(region.end);
    EXPECT_EQ(queue.begun(), queue.consumed());
  }
  EXPECT_EQ(number, ends.size());
  EXPECT_EQ(queue.begun(), queue.appended());
}

TEST_F(RequestQueueTest, TwoThreadsLoseNothing) {
  constexpr uint32_t kRecords = 200'000;
  RequestQueue queue(Segments(3));
  std::atomic<bool> is_woken{false};
  std::thread lane([&] {
    for (uint32_t i = 0; i < kRecords;) {
      for (int j = 0; j < 10 && i < kRecords; ++j, ++i) Append(queue, i, 16 + i % 5 * 8);
      queue.Publish();
      while (queue.stalled()) {
        while (!is_woken.exchange(false)) std::this_thread::yield();
        queue.Publish();
      }
    }
  });
  uint32_t expected = 0;
  while (expected < kRecords) {
    bool wake = false;
    for (const uint32_t number : Read(queue, &wake)) ASSERT_EQ(number, expected++);
    if (wake) is_woken = true;
  }
  lane.join();
}

}  // namespace
}  // namespace httpsys
