#include "semantics/byte_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::semantics {
namespace {

constexpr RangeLimits kNoGap{.merged_gap_bytes = 0};

// "whole", "none", or the ranges as in a request.
std::string Parse(std::string_view value, uint64_t size, const RangeLimits& limits = kNoGap) {
  const ByteRanges parsed = ParseByteRanges(value, size, limits);
  if (parsed.outcome == RangeOutcome::kWhole) return "whole";
  if (parsed.outcome == RangeOutcome::kUnsatisfiable) return "none";
  std::string text;
  for (const ByteRange& range : parsed.view()) {
    EXPECT_LE(range.first, range.last);
    EXPECT_LT(range.last, size);
    if (!text.empty()) text += ",";
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  EXPECT_FALSE(text.empty());
  return text;
}

TEST(ParseByteRanges, OneRange) {
  EXPECT_EQ(Parse("bytes=0-0", 10), "0-0");
  EXPECT_EQ(Parse("bytes=2-5", 10), "2-5");
  EXPECT_EQ(Parse("bytes=2-9", 10), "2-9");
  EXPECT_EQ(Parse("bytes=2-10", 10), "2-9");
  EXPECT_EQ(Parse("bytes=2-", 10), "2-9");
  EXPECT_EQ(Parse("bytes=0-", 10), "0-9");
  EXPECT_EQ(Parse("bytes=-3", 10), "7-9");
  EXPECT_EQ(Parse("bytes=-10", 10), "0-9");
  EXPECT_EQ(Parse("bytes=009-00000000000000000000009", 10), "9-9");
}

TEST(ParseByteRanges, ASuffixThatIsLongerThanTheFileIsTheWholeFile) {
  EXPECT_EQ(Parse("bytes=-20", 10), "0-9");
  EXPECT_EQ(Parse("bytes=-99999999999999999999999", 10), "0-9");
}

TEST(ParseByteRanges, OnlyRangesBehindTheEndAreUnsatisfiable) {
  EXPECT_EQ(Parse("bytes=10-", 10), "none");
  EXPECT_EQ(Parse("bytes=10-20", 10), "none");
  EXPECT_EQ(Parse("bytes=-0", 10), "none");
  EXPECT_EQ(Parse("bytes=10-,-0", 10), "none");
  EXPECT_EQ(Parse("bytes=10-,3-4", 10), "3-4");
  EXPECT_EQ(Parse("bytes=3-4,99-,-0", 10), "3-4");
}

TEST(ParseByteRanges, AnEmptyFile) {
  EXPECT_EQ(Parse("bytes=0-", 0), "none");
  EXPECT_EQ(Parse("bytes=0-0", 0), "none");
  EXPECT_EQ(Parse("bytes=-0", 0), "none");
  EXPECT_EQ(Parse("bytes=-5", 0), "whole");
}

TEST(ParseByteRanges, NumbersThatAreTooLargeAreBehindEveryEnd) {
  constexpr uint64_t kHuge = UINT64_MAX;
  EXPECT_EQ(Parse("bytes=18446744073709551616-", 10), "none");
  EXPECT_EQ(Parse("bytes=18446744073709551616-99999999999999999999999999", 10), "none");
  EXPECT_EQ(Parse("bytes=1-99999999999999999999999999999", 10), "1-9");
  EXPECT_EQ(Parse("bytes=18446744073709551614-18446744073709551615", kHuge),
            "18446744073709551614-18446744073709551614");
  EXPECT_EQ(Parse("bytes=18446744073709551615-", kHuge), "none");
  EXPECT_EQ(Parse("bytes=0-9223372036854775807,9223372036854775809-", kHuge),
            "0-9223372036854775807,9223372036854775809-18446744073709551614");
}

TEST(ParseByteRanges, AMalformedValueDoesNotCount) {
  for (const char* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=,",
                            "bytes= , ",
                            "bytes=-",
                            "bytes=--1",
                            "bytes=1",
                            "bytes=a-b",
                            "bytes=1-b",
                            "bytes=a-1",
                            "bytes=5-4",
                            "bytes=0x1-2",
                            "bytes=1-2-3",
                            "bytes=+1-2",
                            "bytes=1 - 2",
                            "bytes=1- 2",
                            "bytes=1 -2",
                            "bytes =1-2",
                            "bytes:1-2",
                            "1-2",
                            "=1-2",
                            "bytes=0-1,x",
                            "bytes=0-1,3-2",
                            "bytes=20-30,x",
                            "bytes=0-1;2-3",
                            "bytes==0-1",
                            "bytes=0.5-1",
                            "bytes=0-1,bytes=2-3",
                            "bytes=-1-2",
                            "bytes=1--2"}) {
    EXPECT_EQ(Parse(value, 10), "whole") << value;
  }
  EXPECT_EQ(Parse(std::string_view("bytes=1-2\0", 10), 10), "whole");
}

TEST(ParseByteRanges, OtherUnitsDoNotCount) {
  for (const char* value : {"items=0-1", "byte=0-1", "bytess=0-1", "none=0-1"}) {
    EXPECT_EQ(Parse(value, 10), "whole") << value;
  }
  EXPECT_EQ(Parse("Bytes=0-1", 10), "0-1") << "names of units have no case";
}

TEST(ParseByteRanges, WhiteSpaceAndEmptyMembersOfTheList) {
  EXPECT_EQ(Parse(" bytes=0-1 ", 10), "0-1");
  EXPECT_EQ(Parse("bytes= 0-1 ,\t4-5\t, ,,", 10), "0-1,4-5");
}

TEST(ParseByteRanges, SeveralRangesKeepTheirOrder) {
  EXPECT_EQ(Parse("bytes=0-1,4-5,8-9", 10), "0-1,4-5,8-9");
  EXPECT_EQ(Parse("bytes=8-9,0-1,4-5", 10), "8-9,0-1,4-5");
  EXPECT_EQ(Parse("bytes=-1,0-0", 10), "9-9,0-0");
}

TEST(ParseByteRanges, RangesThatTouchOrOverlapAreMergedAtThePlaceOfTheFirst) {
  EXPECT_EQ(Parse("bytes=0-1,2-3", 10), "0-3");
  EXPECT_EQ(Parse("bytes=2-3,0-1", 10), "0-3");
  EXPECT_EQ(Parse("bytes=0-3,2-5", 10), "0-5");
  EXPECT_EQ(Parse("bytes=8-8,0-3,2-5", 20), "8-8,0-5");
  EXPECT_EQ(Parse("bytes=0-0,4-4,2-2,1-1,3-3", 10), "0-4") << "the last ones connect the others";
  EXPECT_EQ(Parse("bytes=6-6,0-0,8-8,7-7", 10), "6-8,0-0");
}

TEST(ParseByteRanges, RangesWithASmallGapAreMerged) {
  EXPECT_EQ(Parse("bytes=0-9,89-99", 1000, {}), "0-99") << "79 bytes between them";
  EXPECT_EQ(Parse("bytes=0-9,90-99", 1000, {}), "0-9,90-99") << "80 bytes between them";
  EXPECT_EQ(Parse("bytes=90-99,0-9,11-12", 1000, {}), "0-99") << "77 bytes after the first merge";
  EXPECT_EQ(Parse("bytes=0-0,200-200,100-120", 1000, {}), "0-0,100-200");
}

TEST(ParseByteRanges, MoreThan8RangesAreTheWholeFile) {
  const std::string eight = "bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14";
  EXPECT_EQ(Parse(eight, 100), "0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14");
  EXPECT_EQ(Parse(eight + ",16-16", 100), "whole");
  EXPECT_EQ(Parse(eight + ",200-", 100), "whole") << "ranges behind the end count";
  EXPECT_EQ(Parse(eight + ",x", 100), "whole");
}

TEST(ParseByteRanges, TheNumberOfRangesIsUpToTheCaller) {
  const RangeLimits cache{.ranges_max = 16, .merged_gap_bytes = 0};
  std::string value = "bytes=0-0";
  for (int i = 2; i < 32; i += 2) value += "," + std::to_string(i) + "-" + std::to_string(i);
  EXPECT_EQ(ParseByteRanges(value, 100, cache).count, 16u);
  EXPECT_EQ(Parse(value + ",40-40", 100, cache), "whole");
}

TEST(ParseByteRanges, MoreThanTwoRangesThatOverlapAreTheWholeFile) {
  EXPECT_EQ(Parse("bytes=0-3,2-5", 100), "0-5");
  EXPECT_EQ(Parse("bytes=0-3,3-6,6-9", 100), "whole");
  EXPECT_EQ(Parse("bytes=0-0,0-0", 100), "0-0");
  EXPECT_EQ(Parse("bytes=0-0,0-0,0-0", 100), "whole");
  EXPECT_EQ(Parse("bytes=0-3,2-5,20-23,22-25", 100), "whole") << "two pairs are four ranges";
  EXPECT_EQ(Parse("bytes=0-3,2-5,20-23", 100), "0-5,20-23");
  EXPECT_EQ(Parse("bytes=0-3,2-5,6-7,8-9", 100), "0-9") << "those that only touch do not overlap";
}

TEST(ParseByteRanges, RangesThatAreLongerThanTheFileAreTheWholeFile) {
  EXPECT_EQ(Parse("bytes=0-,0-", 10), "whole");
  EXPECT_EQ(Parse("bytes=0-,-1", 10), "whole");
  EXPECT_EQ(Parse("bytes=0-5,4-7", 10), "0-7") << "ten bytes in all";
  EXPECT_EQ(Parse("bytes=0-5,4-8", 10), "whole");
  EXPECT_EQ(Parse("bytes=0-,5-", UINT64_MAX), "whole");
}

TEST(ContentRange, TheValuesOfTheField) {
  EXPECT_EQ(ContentRange({0, 4}, 10).view(), "bytes 0-4/10");
  EXPECT_EQ(UnsatisfiedContentRange(10).view(), "bytes */10");
  EXPECT_EQ(ContentRange({UINT64_MAX, UINT64_MAX}, UINT64_MAX).view(),
            "bytes 18446744073709551615-18446744073709551615/18446744073709551615");
}

}  // namespace
}  // namespace httpsys::semantics
