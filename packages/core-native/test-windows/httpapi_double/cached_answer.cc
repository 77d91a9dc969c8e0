#include "cached_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "response_text.h"
#include "text.h"

namespace httpapi_double {
namespace {

constexpr std::string_view kBoundary = "httpapi-double-parts";

// The first and the last byte.
using Range = std::pair<uint64_t, uint64_t>;

// Seconds since 1970 of an IMF-fixdate (RFC 9110, section 5.6.7), the one form that is written.
std::optional<int64_t> ReadDate(const std::string& text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char day_name[4];
  char month_name[4];
  char zone[4];
  int day = 0;
  int year = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (std::sscanf(text.c_str(), "%3s, %2d %3s %4d %2d:%2d:%2d %3s", day_name, &day, month_name,
                  &year, &hour, &minute, &second, zone) != 8) {
    return std::nullopt;
  }
  const size_t at = kMonths.find(month_name);
  if (at == std::string_view::npos || at % 3 != 0 || std::string_view(zone) != "GMT") {
    return std::nullopt;
  }
  // Days before the year and the month, counted from March so that the leap day is the last one.
  const int month = static_cast<int>(at / 3) + 1;
  const int64_t y = year - (month <= 2 ? 1 : 0);
  const int64_t days = 365 * y + y / 4 - y / 100 + y / 400 +
                       (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1 - 719468;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

std::optional<uint64_t> ReadNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// One member of a Range field; nullopt if the body has none of its bytes, or it cannot be read.
std::optional<Range> ReadRange(std::string_view text, uint64_t size) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || size == 0) return std::nullopt;
  const std::optional<uint64_t> first = ReadNumber(text.substr(0, dash));
  const std::optional<uint64_t> last = ReadNumber(text.substr(dash + 1));
  if (!first) {
    if (dash != 0 || !last || *last == 0) return std::nullopt;
    return Range(size - std::min(*last, size), size - 1);
  }
  if (*first >= size || (last && *last < *first)) return std::nullopt;
  return Range(*first, last ? std::min(*last, size - 1) : size - 1);
}

std::vector<Range> ReadRanges(std::string_view field, uint64_t size) {
  std::vector<Range> ranges;
  for (const std::string_view member : Split(field, ',')) {
    if (const std::optional<Range> range = ReadRange(Trim(member), size)) ranges.push_back(*range);
  }
  return ranges;
}

// The lines of a head without its status line and without those of these names.
std::string LinesWithout(std::string_view head, const std::vector<std::string_view>& names) {
  std::string lines;
  head.remove_prefix(std::min(head.size(), head.find("\r\n") + 2));
  while (!head.empty()) {
    const size_t end = std::min(head.size(), head.find("\r\n") + 2);
    const std::string_view line = head.substr(0, end);
    const std::string_view name = line.substr(0, line.find(':'));
    head.remove_prefix(end);
    const bool is_left_out = std::any_of(names.begin(), names.end(), [=](std::string_view other) {
      return EqualsIgnoringCase(name, other);
    });
    if (!is_left_out) lines.append(line);
  }
  return lines;
}

std::string ContentRange(const Range& range, uint64_t size) {
  return "Content-Range: bytes " + std::to_string(range.first) + '-' +
         std::to_string(range.second) + '/' + std::to_string(size) + "\r\n";
}

std::string_view PartOf(const std::string& body, const Range& range) {
  return std::string_view(body).substr(range.first, range.second - range.first + 1);
}

std::string PartialAnswer(const ResponseCache::Entry& entry, const std::vector<Range>& ranges,
                          const std::string& close) {
  const uint64_t size = entry.body.size();
  const std::string start = "HTTP/1.1 206 Partial Content\r\n";
  if (ranges.size() == 1) {
    const std::string_view part = PartOf(entry.body, ranges[0]);
    return start + LinesWithout(entry.head, {"content-length"}) +
           "Content-Length: " + std::to_string(part.size()) + "\r\n" +
           ContentRange(ranges[0], size) + close + "\r\n" + std::string(part);
  }
  std::string body;
  for (const Range& range : ranges) {
    body.append("--").append(kBoundary).append("\r\nContent-Type: ").append(entry.content_type);
    body.append("\r\n").append(ContentRange(range, size)).append("\r\n");
    body.append(PartOf(entry.body, range)).append("\r\n");
  }
  body.append("--").append(kBoundary).append("--\r\n");
  return start + LinesWithout(entry.head, {"content-length", "content-type"}) +
         "Content-Type: multipart/byteranges; boundary=" + std::string(kBoundary) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + close + "\r\n" + body;
}

// Whether the client has what the entry has: If-Modified-Since, which is not looked at beside
// If-None-Match.
bool IsKnown(const ResponseCache::Entry& entry, const RequestHead& head) {
  if (head.Has("if-none-match")) return head.Value("if-none-match") == entry.etag;
  const std::optional<int64_t> since = ReadDate(head.Value("if-modified-since"));
  const std::optional<int64_t> modified = ReadDate(entry.last_modified);
  return since && modified && *modified <= *since;
}

}  // namespace

bool BypassesCache(const RequestHead& head) {
  const std::string expect = head.Value("expect");
  return head.method != "GET" || head.Has("authorization") || head.is_chunked ||
         head.content_length != 0 || EqualsIgnoringCase(head.Value("translate"), "f") ||
         (!expect.empty() && !EqualsIgnoringCase(expect, "100-continue"));
}

bool IsKept(const RequestHead& head, const HTTP_RESPONSE& response, size_t bytes) {
  if (BypassesCache(head) || head.Has("range") || head.Has("if-range")) return false;
  const USHORT status = response.StatusCode;
  if (status < 200 || status > 599 || status == 206) return false;
  if (!HasHeader(response, HttpHeaderContentType) || bytes > kUriMaxUriBytes) return false;
  const std::string modified = HeaderValue(response, HttpHeaderLastModified);
  return modified.empty() || ReadDate(modified).has_value();
}

std::string CachedAnswer(const ResponseCache::Entry& entry, const RequestHead& head,
                         const std::string& close) {
  if (entry.status == 200 && IsKnown(entry, head)) {
    return "HTTP/1.1 304 Not Modified\r\n" +
           LinesWithout(entry.head, {"content-length", "content-type"}) + close + "\r\n";
  }
  const std::string range = head.Value("range");
  if (entry.status != 200 || !range.starts_with("bytes=") || head.Has("if-range")) {
    return entry.head + close + "\r\n" + entry.body;
  }
  const std::vector<Range> ranges =
      ReadRanges(std::string_view(range).substr(6), entry.body.size());
  if (!ranges.empty()) return PartialAnswer(entry, ranges, close);
  return "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */" +
         std::to_string(entry.body.size()) + "\r\nContent-Length: 0\r\n" + close + "\r\n";
}

}  // namespace httpapi_double
