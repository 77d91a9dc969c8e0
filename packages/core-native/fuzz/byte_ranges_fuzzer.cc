// Input: the size of a file in 8 bytes, and the value of a Range field. Traps when a promise of
// byte_ranges.h is broken.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "pieces.h"
#include "semantics/byte_ranges.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::Copy;
using httpsys::semantics::ByteRange;
using httpsys::semantics::ByteRanges;
using httpsys::semantics::ParseByteRanges;
using httpsys::semantics::RangeLimits;
using httpsys::semantics::RangeOutcome;

bool IsSame(const ByteRanges& a, const ByteRanges& b) {
  return a.outcome == b.outcome && a.count == b.count && a.ranges == b.ranges;
}

uint64_t BytesBetween(const ByteRange& a, const ByteRange& b) {
  Check(a.last < b.first || b.last < a.first);
  return a.last < b.first ? b.first - a.last - 1 : a.first - b.last - 1;
}

void CheckLength(const ByteRanges& parsed, uint64_t size) {
  const httpsys::semantics::MultipartByteranges multipart(httpsys::semantics::MakeBoundary(1, size),
                                                          "a/b", size, parsed.view());
  std::string texts;
  uint64_t bytes = 0;
  for (size_t i = 0; i < parsed.count; ++i) {
    multipart.AppendPartHead(i, &texts);
    bytes += parsed.ranges[i].bytes();
  }
  multipart.AppendEnd(&texts);
  Check(multipart.content_bytes() == bytes + texts.size());
}

void CheckRanges(std::string_view value, uint64_t size, const RangeLimits& limits) {
  const Copy copy(value);
  const ByteRanges parsed = ParseByteRanges(copy.view(), size, limits);
  Check((parsed.outcome == RangeOutcome::kPartial) == (parsed.count > 0));
  Check(parsed.count <= limits.ranges_max);
  uint64_t left = size;
  std::string again = "bytes=";
  for (size_t i = 0; i < parsed.count; ++i) {
    const ByteRange& range = parsed.ranges[i];
    Check(range.first <= range.last && range.last < size && range.bytes() <= left);
    left -= range.bytes();
    for (size_t j = 0; j < i; ++j) {
      Check(BytesBetween(range, parsed.ranges[j]) >=
            std::max<uint64_t>(limits.merged_gap_bytes, 1));
    }
    again += std::to_string(range.first) + "-" + std::to_string(range.last) + ",";
  }
  if (parsed.outcome == RangeOutcome::kPartial) {
    Check(ParseByteRanges(again, size, limits).view().size() == parsed.count);
    CheckLength(parsed, size);
  }
  const std::string text(value);
  Check(IsSame(ParseByteRanges(text + " , ", size, limits), parsed));
  Check(ParseByteRanges(text + ",x", size, limits).outcome == RangeOutcome::kWhole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t file_bytes = 0;
  if (size < sizeof file_bytes) return 0;
  std::memcpy(&file_bytes, data, sizeof file_bytes);
  const std::string_view value(reinterpret_cast<const char*>(data) + sizeof file_bytes,
                               size - sizeof file_bytes);
  // Texts around the parts of a file of 2^64 bytes make more bytes than that.
  for (const uint64_t bytes : {file_bytes % 1000, file_bytes >> 1}) {
    CheckRanges(value, bytes, {});
    CheckRanges(value, bytes, {.ranges_max = 16, .overlapping_max = 16, .merged_gap_bytes = 0});
  }
  return 0;
}
