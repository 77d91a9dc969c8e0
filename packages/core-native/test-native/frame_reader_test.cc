// Frames out of a stream of bytes, however it is cut.

#include "peer/frame_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::peer {
namespace {

using Result = FrameReader::Result;

std::string Bytes(FrameType type, const std::string& payload, uint8_t fds = 0) {
  return FrameHeader(type, payload.size(), fds) + payload;
}

TEST(FrameReaderTest, FramesArriveHoweverTheBytesAreCut) {
  const std::string stream = Bytes(FrameType::kSync, "abcd") + Bytes(FrameType::kStateQuery, "") +
                             Bytes(FrameType::kHandOver, std::string(100, 'x'), 1);
  for (size_t step = 1; step <= stream.size(); ++step) {
    FrameReader reader;
    std::vector<std::string> found;
    for (size_t at = 0; at < stream.size(); at += step) {
      reader.Append(std::string_view(stream).substr(at, step));
      Frame frame;
      while (reader.Next(&frame) == Result::kFrame) {
        found.push_back(std::to_string(static_cast<int>(frame.type)) + ' ' +
                        std::to_string(frame.fds) + ' ' + std::string(frame.payload));
      }
    }
    const std::vector<std::string> expected = {"12 0 abcd", "14 0 ",
                                               "33 1 " + std::string(100, 'x')};
    EXPECT_EQ(found, expected) << step << " bytes at a time";
    EXPECT_EQ(reader.buffered_bytes(), 0u);
  }
}

TEST(FrameReaderTest, AFrameOfTheGreatestLengthIsOne) {
  FrameReader reader;
  reader.Append(Bytes(FrameType::kState, std::string(kFrameBytesMax, 'x')));
  Frame frame;
  ASSERT_EQ(reader.Next(&frame), Result::kFrame);
  EXPECT_EQ(frame.payload.size(), kFrameBytesMax);
  EXPECT_EQ(reader.Next(&frame), Result::kNeedMore);
}

TEST(FrameReaderTest, ALongerOneIsRefusedWithItsHeader) {
  FrameReader reader;
  reader.Append(FrameHeader(FrameType::kState, kFrameBytesMax + 1, 0));
  Frame frame;
  EXPECT_EQ(reader.Next(&frame), Result::kBad);
  EXPECT_EQ(reader.Next(&frame), Result::kBad);
}

TEST(FrameReaderTest, MoreDescriptorsThanAFrameMayHaveAreRefused) {
  FrameReader reader;
  reader.Append(FrameHeader(FrameType::kSocket, 0, kFrameFdsMax + 1));
  Frame frame;
  EXPECT_EQ(reader.Next(&frame), Result::kBad);
}

TEST(FrameReaderTest, BytesThatAreToBeZeroAre) {
  for (const size_t at : {6, 7}) {
    std::string header = FrameHeader(FrameType::kSync, 0, 0);
    header[at] = 1;
    FrameReader reader;
    reader.Append(header);
    Frame frame;
    EXPECT_EQ(reader.Next(&frame), Result::kBad);
  }
}

TEST(FrameReaderTest, FramesBeforeABadOneAreTold) {
  FrameReader reader;
  reader.Append(Bytes(FrameType::kSync, "abcd") + std::string(8, '\xff'));
  Frame frame;
  EXPECT_EQ(reader.Next(&frame), Result::kFrame);
  EXPECT_EQ(reader.Next(&frame), Result::kBad);
}

}  // namespace
}  // namespace httpsys::peer
