#include "records/reply_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "records/words.h"

namespace httpsys {
namespace {

using records::ReplyType;

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
    uint8_t* record = At(index, offset);
    StoreField<records::kRecordBytes>(record, 16);
    StoreWord(record, records::kRecordType.word, static_cast<uint32_t>(type));
    StoreField<records::kRecordSlot>(record, slot);
  }
  // The slot of the next record, or nothing.
  std::optional<uint32_t> Next() {
    ReplyRecord reply;
    const ReplyReader::Result result = reader_.Next(&reply);
    EXPECT_NE(result, ReplyReader::Result::kMalformed);
    if (result != ReplyReader::Result::kReply) return std::nullopt;
    return reply.slot();
  }
  bool IsMalformed() {
    ReplyRecord reply;
    return reader_.Next(&reply) == ReplyReader::Result::kMalformed;
  }
  void Publish(uint32_t total) { control_[records::kReplyPublished].store(total); }

  std::vector<int32_t> words_;
  ControlBlock control_;
  ReplyReader reader_;
  std::vector<uint64_t> segments_[2];
};

TEST_F(ReplyReaderTest, OnlyPublishedRecordsAreReturned) {
  Add(0);
  Write(0, 0, ReplyType::kShutdown, 5);
  Write(0, 16, ReplyType::kShutdown, 6);
  EXPECT_EQ(Next(), std::nullopt);
  EXPECT_FALSE(reader_.HasMore());
  Publish(16);
  EXPECT_TRUE(reader_.HasMore());
  EXPECT_EQ(Next(), 5u);
  EXPECT_EQ(Next(), std::nullopt);
}

TEST_F(ReplyReaderTest, JumpsAreFollowedAndLeftSegmentsAreGivenBackOnDemand) {
  Add(0);
  const uint32_t second = Add(1);
  Write(0, 0, ReplyType::kShutdown, 1);
  Write(0, 16, ReplyType::kJump, second);
  Write(1, 0, ReplyType::kShutdown, 2);
  Publish(48);
  EXPECT_EQ(Next(), 1u);
  EXPECT_EQ(Next(), 2u);
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
    StoreWord(segment, 1, static_cast<uint32_t>(ReplyType::kShutdown));
    StoreWord(segment + 16, 0, 16);
    StoreWord(segment + 16, 1, static_cast<uint32_t>(ReplyType::kJump));
    StoreWord(segment + 16, 2, i + 1);
    segment[page_bytes] = 1;
  }
  // The last segment is being read.
  Publish(kSegments * 32 - 16);
  while (Next().has_value()) continue;
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
    Write(index, 0, ReplyType::kShutdown, static_cast<uint32_t>(round));
    Write(index, 16, ReplyType::kJump, static_cast<uint32_t>(1 - index));
    Publish(total += 32);
    EXPECT_EQ(Next(), static_cast<uint32_t>(round));
    EXPECT_EQ(Next(), std::nullopt);
  }
}

TEST_F(ReplyReaderTest, ARecordLongerThanItsSegmentIsMalformed) {
  Add(0);
  Write(0, 0, ReplyType::kShutdown, 1);
  StoreField<records::kRecordBytes>(At(0, 0), 128);
  Publish(128);
  EXPECT_TRUE(IsMalformed());
  // For good.
  StoreField<records::kRecordBytes>(At(0, 0), 16);
  EXPECT_TRUE(IsMalformed());
}

TEST_F(ReplyReaderTest, ARecordLongerThanWhatIsPublishedIsMalformed) {
  Add(0);
  Write(0, 0, ReplyType::kShutdown, 1);
  StoreField<records::kRecordBytes>(At(0, 0), 24);
  Publish(16);
  EXPECT_TRUE(IsMalformed());
}

TEST_F(ReplyReaderTest, SizesThatNoRecordHasAreMalformed) {
  Add(0);
  for (const uint32_t bytes : {0u, 8u, 20u, 0xfffffff8u}) {
    ReplyReader reader(control_);
    reader.AddSegment({At(0, 0), 64});
    Write(0, 0, ReplyType::kShutdown, 1);
    StoreField<records::kRecordBytes>(At(0, 0), bytes);
    Publish(64);
    ReplyRecord reply;
    EXPECT_EQ(reader.Next(&reply), ReplyReader::Result::kMalformed) << bytes;
  }
}

TEST_F(ReplyReaderTest, AJumpToASegmentThatNobodyAddedIsMalformed) {
  Add(0);
  Write(0, 0, ReplyType::kJump, 1);
  Publish(16);
  EXPECT_TRUE(IsMalformed());
}

TEST_F(ReplyReaderTest, RecordsWithoutASegmentAreMalformed) {
  Publish(16);
  EXPECT_TRUE(IsMalformed());
}

struct Shortest {
  ReplyType type;
  std::vector<uint32_t> words;  // From the fifth on, the last of them the last that the type needs.
};

// Each type that has words of its own is read with as many as it needs, and malformed with a byte
// less.
TEST_F(ReplyReaderTest, ARecordShorterThanItsTypeIsMalformed) {
  const Shortest all[] = {
      {ReplyType::kResponse, {0, 0, 0}},
      {ReplyType::kData, {0, 0}},
      {ReplyType::kTrailers, {0, 0}},
      {ReplyType::kBlock, {1}},
      {ReplyType::kFrameBlock, {1}},
      {ReplyType::kEnd, {0}},
      {ReplyType::kIdleTimeout, {0}},
      {ReplyType::kWindow, {5}},
      {ReplyType::kSocketOption, {1, 1, 0}},
      {ReplyType::kCachePolicy, {0, 0}},
      {ReplyType::kWebSocket, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {ReplyType::kFrame, {0}},
      {ReplyType::kBroadcast, {0, 0}},
      {ReplyType::kBroadcastBlock, {0, 0}},
  };
  alignas(8) uint8_t record[64] = {};
  for (const auto& [type, words] : all) {
    StoreWord(record, records::kRecordType.word, static_cast<uint32_t>(type));
    for (size_t i = 0; i < words.size(); ++i) StoreWord(record, 4 + i, words[i]);
    ReplyRecord reply;
    const size_t bytes = 16 + words.size() * 4;
    EXPECT_FALSE(ReplyRecord::Read({record, bytes - 1}, &reply)) << static_cast<int>(type);
    const size_t padded = type == ReplyType::kWebSocket ? records::kWebSocketFixedBytes : bytes;
    EXPECT_TRUE(ReplyRecord::Read({record, AlignRecord(padded)}, &reply)) << static_cast<int>(type);
    EXPECT_EQ(reply.type(), type);
  }
}

// Two lengths whose sum is small modulo 2^32 are no way around the size.
TEST_F(ReplyReaderTest, LengthsBeyondTheRecordAreMalformed) {
  struct {
    ReplyType type;
    std::vector<uint32_t> words;
  } const all[] = {
      {ReplyType::kResponse, {8, 1, 0}},
      {ReplyType::kResponse, {0xffffffff, 9, 0}},
      {ReplyType::kData, {9, 0}},
      {ReplyType::kTrailers, {0xffffffff, 0}},
      {ReplyType::kFrame, {9}},
      {ReplyType::kBroadcast, {4, 2}},
      {ReplyType::kBroadcast, {0, 0x40000001}},
      {ReplyType::kBroadcast, {0xfffffffc, 1}},
      {ReplyType::kBroadcastBlock, {0, 3}},
      {ReplyType::kWebSocket, {0, 0, 0, 0, 0, 0, 0, 0, 9}},
  };
  alignas(8) uint8_t record[128];
  for (const auto& [type, words] : all) {
    std::fill(std::begin(record), std::end(record), 0);
    StoreWord(record, records::kRecordType.word, static_cast<uint32_t>(type));
    for (size_t i = 0; i < words.size(); ++i) StoreWord(record, 4 + i, words[i]);
    // Eight bytes behind the words.
    size_t at = records::kPayloadAt;
    if (type == ReplyType::kResponse) at = records::kResponseFixedBytes;
    if (type == ReplyType::kWebSocket) at = records::kWebSocketFixedBytes;
    ReplyRecord reply;
    EXPECT_FALSE(ReplyRecord::Read({record, at + 8}, &reply))
        << static_cast<int>(type) << ' ' << words[0];
  }
}

TEST_F(ReplyReaderTest, ARecordOfATypeThatIsNotKnownIsReadAndSkipped) {
  Add(0);
  Write(0, 0, static_cast<ReplyType>(200), 7);
  Publish(16);
  EXPECT_EQ(Next(), 7u);
}

using ReplyReaderDeathTest = ReplyReaderTest;

TEST_F(ReplyReaderDeathTest, AMalformedReplyOfOurOwnJavaScriptEndsTheProcess) {
  Add(0);
  Write(0, 0, ReplyType::kShutdown, 1);
  StoreField<records::kRecordBytes>(At(0, 0), 128);
  Publish(128);
  ReplyRecord reply;
  EXPECT_DEATH(reader_.NextOrEnd(&reply), "a reply at byte 0 of segment 0.* is malformed");
}

}  // namespace
}  // namespace httpsys
