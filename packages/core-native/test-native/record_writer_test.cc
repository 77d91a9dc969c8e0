// How soon JavaScript is woken for what a lane tells it.

#include "records/record_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace httpsys::engine {
namespace {

class RecordWriterTest : public testing::Test {
 protected:
  static std::span<uint8_t> Segment(std::vector<uint64_t>& memory) {
    return {reinterpret_cast<uint8_t*>(memory.data()), memory.size() * sizeof(uint64_t)};
  }

  std::vector<uint64_t> first_ = std::vector<uint64_t>(1024);
  std::vector<uint64_t> second_ = std::vector<uint64_t>(1024);
  RequestQueue queue_{{Segment(first_), Segment(second_)}};
  RecordWriter records_{&queue_, 1};
  const Addresses addresses_;
  const std::string facts_ = std::string(records::kOpenSecureBytes, '\0');
};

TEST_F(RecordWriterTest, NothingIsTakenTwice) {
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kLate);
  records_.Eof(1);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kNow);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kLate);
}

TEST_F(RecordWriterTest, ARequestWithMoreLinesThanItsRecordCountsIsOurMistake) {
  http1::RequestHead head;
  head.lines.resize(UINT16_MAX + 1);
  EXPECT_DEATH(records_.RequestHead(head, {}), "UINT16_MAX");
}

TEST_F(RecordWriterTest, AConnectionWithTlsWaitsForItsRequest) {
  records_.Open(1, 1, addresses_, 0, facts_);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kSoon);
}

// close() would refuse it.
TEST_F(RecordWriterTest, AConnectionWithoutTlsDoesNotWait) {
  records_.Open(1, 1, addresses_, 0, "");
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kNow);
}

TEST_F(RecordWriterTest, OnlyThePatientEndWaits) {
  records_.Closed(1, 0, true);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kLate);
  records_.Closed(2, 0, false);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kNow);
}

TEST_F(RecordWriterTest, TheMostUrgentCounts) {
  records_.Open(1, 1, addresses_, 0, facts_);
  records_.Closed(2, 0, true);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kSoon);
  records_.Eof(3);
  records_.Open(4, 1, addresses_, 0, facts_);
  EXPECT_EQ(records_.TakeUrgency(), Urgency::kNow);
}

}  // namespace
}  // namespace httpsys::engine
