#include "semantics/byte_ranges.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"
#include "semantics/list_members.h"

namespace httpsys::semantics {
namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

// Reads a number of any length. A number above kLargest becomes kLargest, which is beyond the end
// of every representation. Returns nothing if the text is empty or has a byte that is no digit.
std::optional<uint64_t> ParsePosition(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t number = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    const auto digit = static_cast<uint64_t>(c - '0');
    number = number > (kLargest - digit) / 10 ? kLargest : number * 10 + digit;
  }
  return number;
}

enum class SpecStatus : uint8_t { kSatisfiable, kUnsatisfiable, kMalformed };

SpecStatus ParseSuffix(std::string_view digits, uint64_t size, ByteRange* range) {
  const std::optional<uint64_t> bytes = ParsePosition(digits);
  if (!bytes.has_value()) return SpecStatus::kMalformed;
  if (*bytes == 0) return SpecStatus::kUnsatisfiable;
  // The answer would have no bytes, which Content-Range cannot express.
  if (size == 0) return SpecStatus::kMalformed;
  *range = {size - std::min(*bytes, size), size - 1};
  return SpecStatus::kSatisfiable;
}

SpecStatus ParseSpec(std::string_view spec, uint64_t size, ByteRange* range) {
  const size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return SpecStatus::kMalformed;
  const std::string_view end = spec.substr(dash + 1);
  if (dash == 0) return ParseSuffix(end, size, range);
  const std::optional<uint64_t> first = ParsePosition(spec.substr(0, dash));
  const std::optional<uint64_t> last = end.empty() ? kLargest : ParsePosition(end);
  if (!first.has_value() || !last.has_value() || *last < *first) return SpecStatus::kMalformed;
  if (*first >= size) return SpecStatus::kUnsatisfiable;
  *range = {*first, std::min(*last, size - 1)};
  return SpecStatus::kSatisfiable;
}

// Returns the list of ranges after `bytes=`; the case of the unit does not matter.
std::optional<std::string_view> FindRangeSet(std::string_view value) {
  value = Trim(value);
  const size_t equals = value.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  if (!EqualsIgnoringCase(value.substr(0, equals), "bytes")) return std::nullopt;
  return value.substr(equals + 1);
}

bool HasTooManyOverlaps(std::span<const ByteRange> ranges, size_t overlapping_max) {
  const auto overlaps = [&](const ByteRange& one) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& other) {
      return &one != &other && one.first <= other.last && other.first <= one.last;
    });
  };
  return static_cast<size_t>(std::count_if(ranges.begin(), ranges.end(), overlaps)) >
         overlapping_max;
}

bool IsLongerThan(std::span<const ByteRange> ranges, uint64_t size) {
  uint64_t left = size;
  for (const ByteRange& range : ranges) {
    if (range.bytes() > left) return true;
    left -= range.bytes();
  }
  return false;
}

// True if the ranges overlap or touch, or have fewer than `gap_bytes` between them.
bool IsNear(const ByteRange& a, const ByteRange& b, uint64_t gap_bytes) {
  const ByteRange& early = a.first <= b.first ? a : b;
  const ByteRange& late = a.first <= b.first ? b : a;
  return late.first <= early.last || late.first - early.last <= std::max<uint64_t>(gap_bytes, 1);
}

// Merges each range into the first range that is near. A merged range may be near to others, so the
// search starts again after each merge; there are fewer merges than ranges.
void MergeNear(uint64_t gap_bytes, ByteRanges* parsed) {
  auto& ranges = parsed->ranges;
  for (size_t i = 1; i < parsed->count;) {
    size_t near = 0;
    while (near < i && !IsNear(ranges[near], ranges[i], gap_bytes)) ++near;
    if (near == i) {
      ++i;
      continue;
    }
    ranges[near] = {std::min(ranges[near].first, ranges[i].first),
                    std::max(ranges[near].last, ranges[i].last)};
    for (size_t j = i + 1; j < parsed->count; ++j) ranges[j - 1] = ranges[j];
    --parsed->count;
    i = 1;
  }
}

}  // namespace

ByteRanges ParseByteRanges(std::string_view value, uint64_t size, const RangeLimits& limits) {
  HTTPSYS_CHECK(limits.ranges_max <= kRangesCapacity);
  const std::optional<std::string_view> set = FindRangeSet(value);
  if (!set.has_value()) return {};
  ByteRanges parsed;
  size_t specs = 0;
  for (std::string_view left = *set; !left.empty();) {
    const size_t comma = std::min(left.find(','), left.size());
    const std::string_view spec = Trim(left.substr(0, comma));
    left.remove_prefix(std::min(comma + 1, left.size()));
    if (spec.empty()) continue;
    if (++specs > limits.ranges_max) return {};
    const SpecStatus status = ParseSpec(spec, size, &parsed.ranges[parsed.count]);
    if (status == SpecStatus::kMalformed) return {};
    if (status == SpecStatus::kSatisfiable) ++parsed.count;
  }
  if (specs == 0) return {};
  if (parsed.count == 0) return {.outcome = RangeOutcome::kUnsatisfiable};
  if (HasTooManyOverlaps(parsed.view(), limits.overlapping_max)) return {};
  if (IsLongerThan(parsed.view(), size)) return {};
  MergeNear(limits.merged_gap_bytes, &parsed);
  parsed.outcome = RangeOutcome::kPartial;
  return parsed;
}

ContentRangeText ContentRange(const ByteRange& range, uint64_t size) {
  ContentRangeText text;
  text.Add("bytes ").AddNumber(range.first).Add("-").AddNumber(range.last).Add("/").AddNumber(size);
  return text;
}

ContentRangeText UnsatisfiedContentRange(uint64_t size) {
  ContentRangeText text;
  text.Add("bytes */").AddNumber(size);
  return text;
}

namespace {

constexpr std::string_view kDelimiter = "\r\n--";
// The delimiter before the first part has no line break, because no text precedes it.
constexpr size_t kNoLineBreakBytes = 2;
constexpr std::string_view kTypeName = "\r\nContent-Type: ";
constexpr std::string_view kRangeName = "\r\nContent-Range: ";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kContentEnd = "--\r\n";

}  // namespace

Boundary MakeBoundary(uint64_t random_a, uint64_t random_b) {
  Boundary boundary;
  for (uint64_t number : {random_a, random_b}) {
    for (int digit = 0; digit < 16; ++digit) {
      boundary.AddNumber(number & 0xF, 16);
      number >>= 4;
    }
  }
  return boundary;
}

void MultipartByteranges::AppendContentType(std::string* out) const {
  out->append("multipart/byteranges; boundary=").append(boundary_.view());
}

void MultipartByteranges::AppendPartHead(size_t index, std::string* out) const {
  out->append(index == 0 ? kDelimiter.substr(kNoLineBreakBytes) : kDelimiter);
  out->append(boundary_.view());
  if (!type_.empty()) out->append(kTypeName).append(type_);
  out->append(kRangeName).append(ContentRange(ranges_[index], size_).view()).append(kHeadEnd);
}

void MultipartByteranges::AppendEnd(std::string* out) const {
  out->append(kDelimiter).append(boundary_.view()).append(kContentEnd);
}

size_t MultipartByteranges::PartHeadBytes(size_t index) const {
  return kDelimiter.size() - (index == 0 ? kNoLineBreakBytes : 0) + boundary_.view().size() +
         (type_.empty() ? 0 : kTypeName.size() + type_.size()) + kRangeName.size() +
         ContentRange(ranges_[index], size_).view().size() + kHeadEnd.size();
}

uint64_t MultipartByteranges::content_bytes() const {
  HTTPSYS_CHECK(!ranges_.empty());
  uint64_t bytes = kDelimiter.size() + boundary_.view().size() + kContentEnd.size();
  for (size_t i = 0; i < ranges_.size(); ++i) bytes += PartHeadBytes(i) + ranges_[i].bytes();
  return bytes;
}

}  // namespace httpsys::semantics
