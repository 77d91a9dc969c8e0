#pragma once
// Byte ranges of a representation that a request wants (RFC 9110, sections 14.1, 14.2 and 14.4).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

// -- The texts around the parts of a multipart/byteranges response (RFC 9110, section 14.6).

// Length of a boundary: 128 random bits in hexadecimal, which no file contains by chance, and which
// no author of a file can guess.
inline constexpr size_t kBoundaryBytes = 32;
using Boundary = FixedText<kBoundaryBytes>;

// Makes a boundary from two random numbers.
[[nodiscard]] Boundary MakeBoundary(uint64_t random_a, uint64_t random_b);

// The texts of one multipart response: for each range a head, to which the sender adds the bytes,
// then the end. `type` and `ranges` must outlive the object. Thread: any.
class MultipartByteranges {
 public:
  // `type` is the value of the Content-Type of each part, which must be valid; empty = parts have
  // no Content-Type. `size` is the size of the whole representation. `ranges` must not be empty.
  MultipartByteranges(const Boundary& boundary, std::string_view type, uint64_t size,
                      std::span<const ByteRange> ranges)
      : boundary_(boundary), type_(type), size_(size), ranges_(ranges) {}

  // Appends the value of the Content-Type field of the response.
  void AppendContentType(std::string* out) const;
  // Appends the head of a part, blank line included.
  void AppendPartHead(size_t index, std::string* out) const;
  void AppendEnd(std::string* out) const;

  // Returns the value of Content-Length: bytes of all texts and ranges. Cannot overflow with ranges
  // from ParseByteRanges(), unless `size` is close to UINT64_MAX.
  [[nodiscard]] uint64_t content_bytes() const;

 private:
  [[nodiscard]] size_t PartHeadBytes(size_t index) const;

  Boundary boundary_;
  std::string_view type_;
  uint64_t size_;
  std::span<const ByteRange> ranges_;
};

}  // namespace httpsys::semantics
