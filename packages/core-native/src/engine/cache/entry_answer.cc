#include "engine/cache/entry_answer.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "engine/cache/stored_head.h"
#include "semantics/preconditions.h"

namespace httpsys::engine {
namespace {

using semantics::ByteRange;
using semantics::ByteRanges;
using semantics::ConditionalMethod;
using semantics::PreconditionOutcome;
using semantics::RangeOutcome;

constexpr int kOk = 200;
constexpr int kPartial = 206;
constexpr int kNotModified = 304;
constexpr int kUnsatisfiedRange = 416;

// Range and conditional fields of a request.
struct WantedPart {
  semantics::ConditionFields conditions;
  std::optional<std::string_view> range;
};

// Reads the fields. `joined` keeps values that are joined from several lines. If-Match and
// If-Unmodified-Since are not for caches (RFC 9111, section 4.3.2).
WantedPart ReadWantedPart(const http1::RequestHead& head, std::deque<std::string>* joined) {
  WantedPart part;
  const std::pair<std::string_view, std::optional<std::string_view>*> wanted[] = {
      {"range", &part.range},
      {"if-range", &part.conditions.if_range},
      {"if-none-match", &part.conditions.if_none_match},
      {"if-modified-since", &part.conditions.if_modified_since},
  };
  for (const http1::HeaderLine& line : head.lines) {
    const auto* const found =
        std::find_if(std::begin(wanted), std::end(wanted),
                     [&](const auto& one) { return EqualsIgnoringCase(line.name, one.first); });
    if (found == std::end(wanted)) continue;
    std::optional<std::string_view>& value = *found->second;
    if (value.has_value()) {
      std::string& both = joined->emplace_back(*value);
      both.append(", ").append(line.value);
      value = both;
    } else {
      value = line.value;
    }
  }
  part.conditions.has_range = part.range.has_value();
  return part;
}

bool WantsPart(const http1::RequestHead& head) {
  return std::any_of(head.lines.begin(), head.lines.end(), [](const http1::HeaderLine& line) {
    return EqualsIgnoringCase(line.name, "range") ||
           EqualsIgnoringCase(line.name, "if-none-match") ||
           EqualsIgnoringCase(line.name, "if-modified-since");
  });
}

void AppendNumber(uint64_t number, std::string* to) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  to->append(digits, static_cast<size_t>(end - digits));
}

semantics::Boundary RandomBoundary() {
  std::random_device device;
  const auto number = [&] { return uint64_t{device()} << 32 | device(); };
  const uint64_t first = number();
  return semantics::MakeBoundary(first, number());
}

// True for fields that a 304 has (RFC 9110, section 15.4.5), or that caches need for an update.
bool IsOfNotModified(std::string_view name) {
  return EqualsIgnoringCase(name, "etag") || EqualsIgnoringCase(name, "date") ||
         EqualsIgnoringCase(name, "vary") || EqualsIgnoringCase(name, "cache-control") ||
         EqualsIgnoringCase(name, "expires") || EqualsIgnoringCase(name, "content-location") ||
         EqualsIgnoringCase(name, "last-modified");
}

}  // namespace

void EntryAnswer::Begin() {
  head_.clear();
  texts_.clear();
  piece_count_ = 0;
  is_own_error_ = false;
}

void EntryAnswer::AddPiece(std::string_view bytes) {
  if (!bytes.empty()) pieces_[piece_count_++] = bytes;
}

void EntryAnswer::Make(const UsedEntry& entry, const AskedEntry& asked, int64_t now_s) {
  Begin();
  if (entry.status == kOk && WantsPart(*asked.request)) {
    std::deque<std::string> joined;
    const WantedPart part = ReadWantedPart(*asked.request, &joined);
    semantics::Validators validators;
    validators.etag = HeadValue(entry.head, "etag");
    validators.last_modified_seconds =
        semantics::ParseHttpDate(HeadValue(entry.head, "last-modified"), now_s);
    const semantics::PreconditionResult result = semantics::EvaluatePreconditions(
        asked.is_head ? ConditionalMethod::kHead : ConditionalMethod::kGet, part.conditions,
        validators, now_s);
    if (result.outcome == PreconditionOutcome::kNotModified) {
      MakeNotModified(entry);
      return AppendEnd(entry, asked, now_s);
    }
    if (result.range_applies) {
      semantics::RangeLimits limits;
      limits.ranges_max = semantics::kRangesCapacity;
      const ByteRanges ranges = semantics::ParseByteRanges(*part.range, entry.body.size(), limits);
      if (ranges.outcome != RangeOutcome::kWhole) {
        MakePartial(entry, ranges.view());
        return AppendEnd(entry, asked, now_s);
      }
    }
  }
  status_ = entry.status;
  head_.append(entry.head);
  if (!asked.is_head) AddPiece(entry.body);
  AppendEnd(entry, asked, now_s);
}

void EntryAnswer::MakeUnsatisfied(const AskedEntry& asked, std::string_view cache_status,
                                  int64_t now_s) {
  Begin();
  status_ = kGatewayTimeout;
  is_own_error_ = true;
  head_.append(kGatewayTimeoutHead);
  UsedEntry nothing;
  nothing.cache_status = cache_status;
  AppendEnd(nothing, asked, now_s);
}

// Appends the entry's fields, except fields about the whole content (but see `keeps_content`).
void EntryAnswer::AppendFields(const UsedEntry& entry, bool keeps_content) {
  std::string_view rest = entry.head;
  std::string_view line;
  (void)TakeHeadLine(&rest, &line);
  while (TakeHeadLine(&rest, &line)) {
    const std::string_view name = SplitHeadLine(line).name;
    const bool is_dropped = EqualsIgnoringCase(name, "content-length") ||
                            EqualsIgnoringCase(name, "content-range") ||
                            (!keeps_content && EqualsIgnoringCase(name, "content-type"));
    if (!is_dropped) head_.append(line).append("\r\n");
  }
}

void EntryAnswer::MakeNotModified(const UsedEntry& entry) {
  status_ = kNotModified;
  head_.append("HTTP/1.1 304 Not Modified\r\n");
  std::string_view rest = entry.head;
  std::string_view line;
  (void)TakeHeadLine(&rest, &line);
  while (TakeHeadLine(&rest, &line)) {
    if (IsOfNotModified(SplitHeadLine(line).name)) head_.append(line).append("\r\n");
  }
}

// Makes a 206 with these ranges, or a 416 if there are none: the body has no requested range.
void EntryAnswer::MakePartial(const UsedEntry& entry, std::span<const ByteRange> ranges) {
  const uint64_t size = entry.body.size();
  const auto bytes_of = [&](const ByteRange& range) {
    return entry.body.substr(range.first, range.bytes());
  };
  if (ranges.empty()) {
    status_ = kUnsatisfiedRange;
    is_own_error_ = true;
    head_.append("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: ")
        .append(semantics::UnsatisfiedContentRange(size).view())
        .append("\r\n");
    return;
  }
  status_ = kPartial;
  head_.append("HTTP/1.1 206 Partial Content\r\n");
  AppendFields(entry, ranges.size() == 1);
  uint64_t length = 0;
  if (ranges.size() == 1) {
    head_.append("Content-Range: ").append(semantics::ContentRange(ranges[0], size).view());
    head_.append("\r\n");
    length = ranges[0].bytes();
    AddPiece(bytes_of(ranges[0]));
  } else {
    const semantics::MultipartByteranges parts(RandomBoundary(),
                                               HeadValue(entry.head, "content-type"), size, ranges);
    head_.append("Content-Type: ");
    parts.AppendContentType(&head_);
    head_.append("\r\n");
    length = parts.content_bytes();
    std::vector<size_t> ends;
    for (size_t i = 0; i < ranges.size(); ++i) {
      parts.AppendPartHead(i, &texts_);
      ends.push_back(texts_.size());
    }
    parts.AppendEnd(&texts_);
    // `texts_` is complete: views into it stay valid from here on.
    const std::string_view texts = texts_;
    size_t begin = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      AddPiece(texts.substr(begin, ends[i] - begin));
      AddPiece(bytes_of(ranges[i]));
      begin = ends[i];
    }
    AddPiece(texts.substr(begin));
  }
  head_.append("Content-Length: ");
  AppendNumber(length, &head_);
  head_.append("\r\n");
}

void EntryAnswer::AppendEnd(const UsedEntry& entry, const AskedEntry& asked, int64_t now_s) {
  if (asked.is_head) piece_count_ = 0;
  if (!is_own_error_) {
    if (entry.age_s.has_value()) {
      AppendAge(*entry.age_s);
    } else {
      head_.append("Date: ").append(date_.At(now_s)).append("\r\n");
    }
  }
  if (entry.varies_by_coding) head_.append("Vary: Accept-Encoding\r\n");
  if (!entry.cache_status.empty()) {
    head_.append("Cache-Status: ").append(entry.cache_status).append("\r\n");
  }
  head_.append("\r\n");
}

void EntryAnswer::AppendAge(uint32_t age_s) {
  constexpr std::string_view kName = "Age: ";
  std::array<char, kName.size() + std::numeric_limits<uint32_t>::digits10 + 1 + 2> line;
  char* to = std::copy(kName.begin(), kName.end(), line.data());
  to = std::to_chars(to, line.data() + line.size(), age_s).ptr;
  *to++ = '\r';
  *to++ = '\n';
  head_.append(line.data(), static_cast<size_t>(to - line.data()));
}

}  // namespace httpsys::engine
