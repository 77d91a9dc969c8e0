// Input: flags (2 bytes), and one a line the target, and the values of Range, Accept-Encoding,
// If-None-Match, If-Modified-Since, If-Range and Cache-Control. Traps when a response could not be
// sent as it is: a field that is two lines, a length that is not that of the content.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "lines.h"
#include "pieces.h"
#include "static_files/static_decision.h"
#include "url/url_path.h"

namespace {

using httpsys::fuzz::Check;
using httpsys::fuzz::TakeLine;
using namespace httpsys::files;
using namespace httpsys::static_files;
using httpsys::semantics::ContentCoding;

constexpr int64_t kNow = 1'795'910'400;

// The value of a field, which a response has at most once.
std::string_view FieldOf(std::string_view fields, std::string_view name) {
  std::string_view value;
  bool is_found = false;
  while (!fields.empty()) {
    const size_t end = fields.find("\r\n");
    Check(end != fields.npos);
    const std::string_view line = fields.substr(0, end);
    fields.remove_prefix(end + 2);
    Check(line.find_first_of("\r\n") == line.npos && line.find('\0') == line.npos);
    const size_t colon = line.find(": ");
    Check(colon != line.npos && colon > 0);
    if (line.substr(0, colon) != name) continue;
    Check(!is_found);
    is_found = true;
    value = line.substr(colon + 2);
  }
  return value;
}

uint64_t LengthOf(const StaticResponse& response) {
  const std::string_view text = FieldOf(response.fields, "Content-Length");
  uint64_t bytes = 0;
  Check(std::from_chars(text.data(), text.data() + text.size(), bytes).ec == std::errc());
  return bytes;
}

void CheckContent(const StaticResponse& response, uint64_t size) {
  const auto& ranges = response.ranges;
  uint64_t bytes = size;
  if (ranges.count == 1) bytes = ranges.ranges[0].bytes();
  if (ranges.count > 1) {
    bytes = httpsys::semantics::MultipartByteranges(httpsys::semantics::MakeBoundary(1, 2),
                                                    response.part_type, size, ranges.view())
                .content_bytes();
  }
  Check(LengthOf(response) == bytes);
  Check((response.status == 206) == (ranges.count > 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const unsigned flags = data[0] | static_cast<unsigned>(data[1]) << 8;
  std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  StaticOptions options;
  options.fallthrough = (flags & 1) != 0;
  options.types = {{"js", "text/javascript"}};
  options.header_rules = {{.pattern = "*.js", .name = "X-A", .value = "1"},
                          {.pattern = "**/b", .name = "ETag", .value = "\"strong\""}};
  options.precompressed = {ContentCoding::kBr, ContentCoding::kGzip};
  StaticRequest request;
  request.method = static_cast<httpsys::semantics::ConditionalMethod>((flags >> 1) % 3);
  request.target = TakeLine(&text);
  for (auto* field : {&request.range, &request.accept_encoding, &request.conditions.if_none_match,
                      &request.conditions.if_modified_since, &request.conditions.if_range,
                      &request.cache_control}) {
    const std::string_view value = TakeLine(&text);
    if (value != "-") *field = value;
  }
  const StaticDecision decision(&options);
  const bool is_head = request.method == httpsys::semantics::ConditionalMethod::kHead;

  const StaticResponse redirect = decision.WithoutFile(request, SearchStatus::kRedirect);
  const std::string_view location = FieldOf(redirect.fields, "Location");
  Check(location.starts_with('/') && !location.starts_with("//"));
  Check(is_head || LengthOf(redirect) == redirect.body.size());

  const RequestPath path = ReadRequestPath(httpsys::SplitTarget(request.target).path, 1);
  const auto early = decision.BeforeSearch(request, path);
  if (early.has_value()) {
    Check(early->passes_on == options.fallthrough);
    return 0;
  }
  FileSearch search(&options, path);
  for (unsigned bits = flags >> 3; search.status() == SearchStatus::kTry; bits >>= 1) {
    search.Report((bits & 1) != 0 ? 0 : 2, (bits & 2) != 0 ? FileKind::kFolder : FileKind::kFile);
  }
  if (search.status() != SearchStatus::kFound) return 0;
  const FileFacts facts{.kind = FileKind::kFile, .size = flags, .modified_ns = kNow * 1000};
  FoundFile file{.path = search.path(), .facts = facts};
  if ((flags & 0x100) != 0) file.siblings[0] = facts;
  if ((flags & 0x200) != 0) file.siblings[2] = facts;
  const StaticResponse response =
      decision.WithFile(request, file, kNow, httpsys::semantics::MakeBoundary(1, 2));
  Check(!response.passes_on);
  (void)FieldOf(response.fields, "ETag");
  switch (response.status) {
    case 200:
    case 206:
      Check(response.sends_file == !is_head && response.body.empty());
      CheckContent(response, facts.size);
      break;
    case 304:
      Check(!response.sends_file && FieldOf(response.fields, "Content-Length").empty());
      break;
    default:
      Check((response.status == 412 || response.status == 416) && !response.sends_file);
      Check(is_head || LengthOf(response) == response.body.size());
  }
  return 0;
}
