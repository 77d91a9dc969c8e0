#include "http1/response_head.h"

#include <algorithm>

#include "base/ascii.h"
#include "http1/char_class.h"

namespace httpsys::http1 {
namespace {

constexpr std::string_view kBlankLine = "\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kProtocol = "HTTP/1.";
constexpr size_t kStatusAt = kProtocol.size() + 2;
constexpr size_t kReasonAt = kStatusAt + 4;

bool HasOnly(std::string_view text, CharClass wanted) {
  return std::all_of(text.begin(), text.end(), [=](char c) { return HasClass(c, wanted); });
}

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Parses a line such as `HTTP/1.1 200 OK`. The space after the status may be missing.
bool ParseStatusLine(std::string_view line, ResponseHead* head) {
  if (line.size() + 1 < kReasonAt || !line.starts_with(kProtocol) ||
      !IsDigit(line[kProtocol.size()]) || line[kStatusAt - 1] != ' ') {
    return false;
  }
  const std::string_view status = line.substr(kStatusAt, 3);
  if (!std::all_of(status.begin(), status.end(), IsDigit) || status[0] == '0') return false;
  head->status =
      static_cast<uint16_t>((status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0'));
  if (line.size() < kReasonAt) {
    head->reason = {};
    return true;
  }
  head->reason = line.substr(kReasonAt);
  return line[kReasonAt - 1] == ' ' && HasOnly(head->reason, kFieldValueChar);
}

bool ParseLine(std::string_view line, ResponseHead* head) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1));
  if (!HasOnly(name, kTokenChar) || !HasOnly(value, kFieldValueChar)) return false;
  head->lines.push_back({name, value});
  return true;
}

}  // namespace

size_t ResponseHeadBytes(std::string_view text) {
  const size_t at = text.find(kBlankLine);
  return at == std::string_view::npos ? 0 : at + kBlankLine.size();
}

bool ParseResponseHead(std::string_view text, ResponseHead* head) {
  head->lines.clear();
  if (!text.ends_with(kBlankLine)) return false;
  text.remove_suffix(kLineEnd.size());
  for (bool is_first = true; !text.empty(); is_first = false) {
    const size_t end = text.find(kLineEnd);
    const std::string_view line = text.substr(0, end);
    if (!(is_first ? ParseStatusLine(line, head) : ParseLine(line, head))) return false;
    text.remove_prefix(end + kLineEnd.size());
  }
  return true;
}

}  // namespace httpsys::http1
