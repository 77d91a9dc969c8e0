#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "semantics/byte_ranges.h"

namespace httpsys::semantics {
namespace {

std::string ContentOf(const MultipartByteranges& multipart, std::string_view file,
                      std::span<const ByteRange> ranges) {
  std::string content;
  for (size_t i = 0; i < ranges.size(); ++i) {
    multipart.AppendPartHead(i, &content);
    content += file.substr(ranges[i].first, ranges[i].bytes());
  }
  multipart.AppendEnd(&content);
  return content;
}

TEST(MultipartByteranges, TheContentOfAResponse) {
  const std::vector<ByteRange> ranges = {{0, 2}, {8, 9}};
  const Boundary boundary = MakeBoundary(1, 0);
  const MultipartByteranges multipart(boundary, "text/plain", 10, ranges);
  const std::string mark = "--10000000000000000000000000000000";
  EXPECT_EQ(ContentOf(multipart, "0123456789", ranges),
            mark + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-2/10\r\n\r\n012\r\n" +
                mark + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\n89\r\n" +
                mark + "--\r\n");
  std::string type;
  multipart.AppendContentType(&type);
  EXPECT_EQ(type, "multipart/byteranges; boundary=10000000000000000000000000000000");
}

TEST(MultipartByteranges, PartsMayHaveNoType) {
  const std::vector<ByteRange> ranges = {{1, 1}};
  const MultipartByteranges multipart(MakeBoundary(0, 0), "", 10, ranges);
  std::string head;
  multipart.AppendPartHead(0, &head);
  EXPECT_EQ(head, "--00000000000000000000000000000000\r\nContent-Range: bytes 1-1/10\r\n\r\n");
}

TEST(MultipartByteranges, TheLengthIsKnownBefore) {
  const std::string file(2000, 'x');
  for (const std::string_view type : {"", "text/html; charset=UTF-8"}) {
    for (const char* value :
         {"bytes=0-0", "bytes=0-99,200-299", "bytes=1900-,0-9,200-300,500-500,-1",
          "bytes=0-0,100-100,200-200,300-300,400-400,500-500,600-600,1999-"}) {
      const ByteRanges parsed = ParseByteRanges(value, file.size());
      ASSERT_EQ(parsed.outcome, RangeOutcome::kPartial);
      const MultipartByteranges multipart(MakeBoundary(7, ~uint64_t{0}), type, file.size(),
                                          parsed.view());
      EXPECT_EQ(multipart.content_bytes(), ContentOf(multipart, file, parsed.view()).size());
    }
  }
}

TEST(MultipartByteranges, TheLengthOfALargeFile) {
  constexpr uint64_t kSize = uint64_t{1} << 62;
  const ByteRanges parsed =
      ParseByteRanges("bytes=0-4611686018427387000,4611686018427387900-", kSize);
  ASSERT_EQ(parsed.count, 2u);
  const MultipartByteranges multipart(MakeBoundary(7, 8), "a/b", kSize, parsed.view());
  std::string texts;
  multipart.AppendPartHead(0, &texts);
  multipart.AppendPartHead(1, &texts);
  multipart.AppendEnd(&texts);
  EXPECT_EQ(multipart.content_bytes(),
            texts.size() + parsed.ranges[0].bytes() + parsed.ranges[1].bytes());
}

TEST(MakeBoundary, EveryBitCounts) {
  const std::string none(MakeBoundary(0, 0).view());
  EXPECT_EQ(none.size(), kBoundaryBytes);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(MakeBoundary(uint64_t{1} << bit, 0).view(), none);
    EXPECT_NE(MakeBoundary(0, uint64_t{1} << bit).view(), none);
    EXPECT_EQ(MakeBoundary(uint64_t{1} << bit, 0).view().size(), kBoundaryBytes);
  }
  EXPECT_EQ(MakeBoundary(~uint64_t{0}, 0).view(), "ffffffffffffffff0000000000000000");
}

}  // namespace
}  // namespace httpsys::semantics
