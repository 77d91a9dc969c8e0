#pragma once
// Byte ranges of a representation that a request wants (RFC 9110, sections 14.1, 14.2 and 14.4).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "semantics/fixed_text.h"

namespace httpsys::semantics {

// Maximum number of ranges in ByteRanges, and so in an answer of the output cache.
inline constexpr size_t kRangesCapacity = 16;
// Maximum number of ranges of a file; with more, a request gets the whole file. Each part costs a
// head and pieces of the send queue. Document viewers request two or three ranges.
inline constexpr size_t kFileRangesMax = 8;
// Maximum number of overlapping ranges; with more, a request gets the whole representation, because
// only an attacker sends them (RFC 9110, section 14.2).
inline constexpr size_t kOverlappingRangesMax = 2;
// Ranges with smaller gaps are merged: the head of a part is as long (RFC 9110, 15.3.7.2).
inline constexpr uint64_t kMergedGapBytes = 80;

struct RangeLimits {
  size_t ranges_max = kFileRangesMax;  // At most kRangesCapacity.
  size_t overlapping_max = kOverlappingRangesMax;
  uint64_t merged_gap_bytes = kMergedGapBytes;
};

struct ByteRange {
  uint64_t first = 0;
  uint64_t last = 0;  // Offset of the last byte, inclusive.

  uint64_t bytes() const { return last - first + 1; }
  bool operator==(const ByteRange&) const = default;
};

enum class RangeOutcome : uint8_t {
  kWhole,          // The Range field is ignored: 200.
  kPartial,        // 206, with one part or several.
  kUnsatisfiable,  // 416.
};

struct ByteRanges {
  RangeOutcome outcome = RangeOutcome::kWhole;
  size_t count = 0;  // With kPartial: at least 1.
  std::array<ByteRange, kRangesCapacity> ranges{};

  std::span<const ByteRange> view() const { return {ranges.data(), count}; }
};

// Parses the value of a Range field for a representation of `size` bytes. The outcome is
// - kWhole for another unit; for a malformed value (one malformed range is enough, such as one
//   whose end is before its beginning); for more than `ranges_max` ranges; for more than
//   `overlapping_max` ranges that overlap with another one; if all ranges together are longer than
//   the representation; and for a suffix of an empty representation, which no Content-Range can
//   name;
// - kUnsatisfiable if all ranges begin at or beyond the end, or are suffixes of no bytes;
// - otherwise kPartial, without the unsatisfiable ranges. Ranges that overlap, or have fewer than
//   `merged_gap_bytes` between them, are merged at the position of the first one. The resulting
//   ranges are within the representation, never overlap, and are in the order of the request.
// A suffix that is longer than the representation is the whole representation. Allocates nothing,
// and reads each byte once. Thread: any.
[[nodiscard]] ByteRanges ParseByteRanges(std::string_view value, uint64_t size,
                                         const RangeLimits& limits = {});

// The value of a Content-Range field: at most `bytes`, a space, three numbers and two separators.
using ContentRangeText = FixedText<8 + 3 * kNumberBytesMax>;

// Returns a text such as `bytes 0-4/10`.
[[nodiscard]] ContentRangeText ContentRange(const ByteRange& range, uint64_t size);
// Returns a text such as `bytes */10`, for an answer with 416.
[[nodiscard]] ContentRangeText UnsatisfiedContentRange(uint64_t size);

}  // namespace httpsys::semantics
