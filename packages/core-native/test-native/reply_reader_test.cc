#include "records/reply_reader.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

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
