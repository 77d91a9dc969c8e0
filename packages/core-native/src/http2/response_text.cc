#include "http2/response_text.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/limits.h"

namespace httpsys::http2 {
namespace {

using http1::HeaderLine;

constexpr std::string_view kVersion = "HTTP/1.";
// Position of the status in `HTTP/1.1 200`.
constexpr size_t kStatusAt = 9;
constexpr size_t kStatusEnd = 12;

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool ParseLine(std::string_view text, HeaderLine* line) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  line->name = text.substr(0, colon);
  line->value = Trim(text.substr(colon + 1));
  return true;
}

bool ParseNumber(std::string_view text, int base, uint64_t* number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
}

bool ReadFraming(const HeaderLine& line, ResponseHead* head) {
  if (line.name.size() == 14 && EqualsIgnoringCase(line.name, "content-length")) {
    head->has_length = true;
    return ParseNumber(line.value, 10, &head->content_length);
  }
  if (line.name.size() == 17 && EqualsIgnoringCase(line.name, "transfer-encoding")) {
    constexpr std::string_view kChunked = "chunked";
    head->is_chunked =
        line.value.size() >= kChunked.size() &&
        EqualsIgnoringCase(line.value.substr(line.value.size() - kChunked.size()), kChunked);
  }
  return true;
}

}  // namespace

bool ParseTrailers(std::string_view text, std::vector<HeaderLine>* lines) {
  lines->clear();
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    if (end == 0) return true;
    HeaderLine line;
    if (!ParseLine(text.substr(0, end), &line)) return false;
    lines->push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 2);
  }
  return true;
}

bool ParseResponseHead(std::string_view text, ResponseHead* head) {
  head->lines.clear();
  head->has_length = head->is_chunked = false;
  head->content_length = 0;
  uint64_t status = 0;
  if (text.size() < kStatusEnd || !text.starts_with(kVersion) || text[kStatusAt - 1] != ' ' ||
      !ParseNumber(text.substr(kStatusAt, kStatusEnd - kStatusAt), 10, &status) || status < 100) {
    return false;
  }
  head->status = static_cast<int>(status);
  size_t at = text.find("\r\n", kStatusEnd);
  while (at != std::string_view::npos) {
    at += 2;
    const size_t end = text.find("\r\n", at);
    if (end == at || end == std::string_view::npos) return end == at;
    HeaderLine& line = head->lines.emplace_back();
    if (!ParseLine(text.substr(at, end - at), &line) || !ReadFraming(line, head)) return false;
    at = end;
  }
  return false;
}

ResponseText::Step ResponseText::Fail() {
  phase_ = Phase::kFailed;
  return {Kind::kFailed, 0, {}};
}

ResponseText::Step ResponseText::Next(std::string_view input) {
  if (is_kept_used_) {
    kept_.clear();
    kept_.shrink_to_fit();
    is_kept_used_ = false;
  }
  if (input.empty()) return {};
  switch (phase_) {
    case Phase::kHead:
      return ReadSection(input, Kind::kHead);
    case Phase::kLength:
      return ReadCounted(input, Phase::kDone);
    case Phase::kChunkSize:
      return ReadChunkSize(input);
    case Phase::kChunkData:
      return ReadCounted(input, Phase::kChunkEnd);
    case Phase::kChunkEnd:
      return ReadChunkEnd(input);
    case Phase::kTrailers:
      return ReadSection(input, Kind::kTrailers);
    case Phase::kUntilEnd:
      return {Kind::kBody, input.size(), input};
    case Phase::kDone:
      return {Kind::kNeedMore, input.size(), {}};
    case Phase::kFailed:
      break;
  }
  return {Kind::kFailed, 0, {}};
}

// Reads a section with its final blank line. A trailer section may consist of just that line.
ResponseText::Step ResponseText::ReadSection(std::string_view input, Kind kind) {
  const bool may_be_blank = kind == Kind::kTrailers;
  const auto end_of = [may_be_blank](std::string_view text, size_t from) {
    if (may_be_blank && text.starts_with("\r\n")) return size_t{2};
    const size_t found = text.find("\r\n\r\n", from);
    return found == std::string_view::npos ? found : found + 4;
  };
  Step step;
  step.kind = kind;
  if (kept_.empty()) {
    const size_t end = end_of(input, 0);
    if (end != std::string_view::npos) {
      step.used = end;
      step.bytes = input.substr(0, end);
    }
  }
  if (step.used == 0) {
    const size_t before = kept_.size();
    if (before + input.size() > limits::kResponseHeadBytesMax) return Fail();
    kept_.append(input);
    const size_t end = end_of(kept_, before < 3 ? 0 : before - 3);
    if (end == std::string_view::npos) return {Kind::kNeedMore, input.size(), {}};
    step.used = end - before;
    kept_.resize(end);
    step.bytes = kept_;
    is_kept_used_ = true;
  }
  if (kind == Kind::kTrailers) phase_ = Phase::kDone;
  return step;
}

ResponseText::Step ResponseText::ReadCounted(std::string_view input, Phase next) {
  const std::string_view piece = input.substr(0, std::min<uint64_t>(left_, input.size()));
  left_ -= piece.size();
  if (left_ == 0) phase_ = next;
  return {Kind::kBody, piece.size(), piece};
}

void ResponseText::SkipBody(size_t bytes) {
  if (phase_ == Phase::kUntilEnd) return;
  left_ -= bytes;
  if (left_ == 0) phase_ = phase_ == Phase::kLength ? Phase::kDone : Phase::kChunkEnd;
}

ResponseText::Step ResponseText::ReadChunkSize(std::string_view input) {
  const size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos || !kept_.empty()) {
    // Maximum length of a chunk size line: longer than any size with extensions in use.
    constexpr size_t kLineBytesMax = 1024;
    const size_t used = line_end == std::string_view::npos ? input.size() : line_end + 1;
    if (kept_.size() + used > kLineBytesMax) return Fail();
    kept_.append(input.substr(0, used));
    if (line_end == std::string_view::npos) return {Kind::kNeedMore, used, {}};
  }
  std::string_view line = kept_.empty() ? input.substr(0, line_end) : std::string_view(kept_);
  line = Trim(line.substr(0, line.find_first_of(";\r\n")));
  const bool is_number = ParseNumber(line, 16, &left_);
  kept_.clear();
  if (!is_number) return Fail();
  phase_ = left_ == 0 ? Phase::kTrailers : Phase::kChunkData;
  return {Kind::kNeedMore, line_end + 1, {}};
}

ResponseText::Step ResponseText::ReadChunkEnd(std::string_view input) {
  size_t used = 0;
  if (kept_.empty() && input[0] == '\r') {
    kept_.push_back('\r');
    used = 1;
  }
  if (used == input.size()) return {Kind::kNeedMore, used, {}};
  if (input[used] != '\n') return Fail();
  kept_.clear();
  phase_ = Phase::kChunkSize;
  return {Kind::kNeedMore, used + 1, {}};
}

}  // namespace httpsys::http2
