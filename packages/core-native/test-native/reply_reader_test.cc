#include "records/reply_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/limits.h"
#include "records/words.h"

namespace httpsys {
namespace {

class ReplyReaderTest : public testing::Test {
 protected:
  ReplyReaderTest() : words_(records::kControlWords), control_(words_.data()), reader_(control_) {
    for (auto& segment : segments_) segment.resize(8);
  }

  uint32_t Add(size_t index) {
    return reader_.AddSegment({reinterpret_cast<const uint8_t*>(segments_[index].data()), 64});
  }
  uint8_t* At(size_t index, size_t offset) {
    return reinterpret_cast<uint8_t*>(segments_[index].data()) + offset;
  }
  void Write(size_t index, size_t offset, records::ReplyType type, uint32_t slot) {
    StoreWord(At(index, offset), 0, 16);
    StoreWord(At(index, offset), 1, static_cast<uint32_t>(type));
    StoreWord(At(index, offset), 2, slot);
  }
  void Publish(uint32_t total) { control_[records::kReplyPublished].store(total); }

  std::vector<int32_t> words_;
  ControlBlock control_;
  ReplyReader reader_;
  std::vector<uint64_t> segments_[2];
};

TEST_F(ReplyReaderTest, OnlyPublishedRecordsAreReturned) {
  Add(0);
  Write(0, 0, records::ReplyType::kEnd, 5);
  Write(0, 16, records::ReplyType::kEnd, 6);
  EXPECT_EQ(reader_.Next(), nullptr);
  EXPECT_FALSE(reader_.HasMore());
  Publish(16);
  EXPECT_TRUE(reader_.HasMore());
  const uint8_t* record = reader_.Next();
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(LoadWord(record, 2), 5u);
  EXPECT_EQ(reader_.Next(), nullptr);
}

TEST_F(ReplyReaderTest, JumpsAreFollowedAndLeftSegmentsAreGivenBackOnDemand) {
  Add(0);
  const uint32_t second = Add(1);
  Write(0, 0, records::ReplyType::kEnd, 1);
  Write(0, 16, records::ReplyType::kJump, second);
  Write(1, 0, records::ReplyType::kEnd, 2);
  Publish(48);
  EXPECT_EQ(LoadWord(reader_.Next(), 2), 1u);
  EXPECT_EQ(LoadWord(reader_.Next(), 2), 2u);
  EXPECT_EQ(control_[records::kSegmentsDone].load(), 0u);
  reader_.GiveBack();
  EXPECT_EQ(control_[records::kSegmentsDone].load(), 1u);
}

#ifdef __linux__
TEST_F(ReplyReaderTest, PagesOfSurplusSegmentsAreReleasedWhenTheyAreGivenBack) {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr uint32_t kSegments = limits::kReplySegmentsKept + 2;
  const size_t segment_bytes = 2 * page_bytes;
  void* memory = mmap(nullptr, kSegments * segment_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<uint8_t*>(memory);
  for (uint32_t i = 0; i < kSegments; ++i) {
    uint8_t* segment = bytes + i * segment_bytes;
    reader_.AddSegment({segment, segment_bytes});
    StoreWord(segment, 0, 16);
    StoreWord(segment, 1, static_cast<uint32_t>(records::ReplyType::kEnd));
    StoreWord(segment + 16, 0, 16);
    StoreWord(segment + 16, 1, static_cast<uint32_t>(records::ReplyType::kJump));
    StoreWord(segment + 16, 2, i + 1);
    segment[page_bytes] = 1;
  }
  // The last segment is being read.
  Publish(kSegments * 32 - 16);
  while (reader_.Next() != nullptr) {
  }
  const auto is_resident = [&](uint32_t i) {
    unsigned char pages[2] = {};
    EXPECT_EQ(mincore(bytes + i * segment_bytes, segment_bytes, pages), 0);
    return (pages[0] & 1) != 0 || (pages[1] & 1) != 0;
  };
  for (uint32_t i = 0; i < kSegments; ++i) EXPECT_TRUE(is_resident(i)) << i;
  reader_.GiveBack();
  for (uint32_t i = 0; i < kSegments; ++i) {
    EXPECT_EQ(is_resident(i), i != limits::kReplySegmentsKept) << i;
  }
  munmap(memory, kSegments * segment_bytes);
}
#endif

TEST_F(ReplyReaderTest, ManySegmentsInARow) {
  Add(0);
  Add(1);
  uint32_t total = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t index = static_cast<size_t>(round % 2);
    Write(index, 0, records::ReplyType::kEnd, static_cast<uint32_t>(round));
    Write(index, 16, records::ReplyType::kJump, static_cast<uint32_t>(1 - index));
    Publish(total += 32);
    EXPECT_EQ(LoadWord(reader_.Next(), 2), static_cast<uint32_t>(round));
    EXPECT_EQ(reader_.Next(), nullptr);
  }
}

using ReplyReaderDeathTest = ReplyReaderTest;

TEST_F(ReplyReaderDeathTest, ARecordThatDoesNotFitEndsTheProcess) {
  Add(0);
  Write(0, 0, records::ReplyType::kEnd, 1);
  StoreWord(At(0, 0), 0, 128);
  Publish(128);
  EXPECT_DEATH(reader_.Next(), "does not hold");
}

}  // namespace
}  // namespace httpsys
