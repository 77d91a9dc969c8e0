#include "http1/field_rules.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/ascii.h"

namespace httpsys::http1 {
namespace {

constexpr std::string_view kChunked = "chunked";
constexpr std::string_view kContinue = "100-continue";

// Returns true for the characters of \w in regular expressions.
bool IsWordChar(char c) { return IsAlpha(c) || IsDigit(c) || c == '_'; }

}  // namespace

KnownField FindKnownField(std::string_view name) {
  switch (name.size()) {
    case 4:
      // A fast path: nearly all clients write "Host".
      if (name == "Host" || EqualsIgnoringCase(name, "host")) return KnownField::kHost;
      break;
    case 6:
      if (EqualsIgnoringCase(name, "expect")) return KnownField::kExpect;
      break;
    case 7:
      if (EqualsIgnoringCase(name, "upgrade")) return KnownField::kUpgrade;
      break;
    case 10:
      if (EqualsIgnoringCase(name, "connection")) return KnownField::kConnection;
      break;
    case 14:
      if (EqualsIgnoringCase(name, "content-length")) return KnownField::kContentLength;
      break;
    case 16:
      if (EqualsIgnoringCase(name, "proxy-connection")) return KnownField::kConnection;
      break;
    case 17:
      if (EqualsIgnoringCase(name, "transfer-encoding")) return KnownField::kTransferEncoding;
      break;
    default:
      break;
  }
  return KnownField::kOther;
}

ParseError ParseContentLength(std::string_view value, bool complete, uint64_t* length) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  uint64_t result = 0;
  size_t i = 0;
  for (; i < value.size() && IsDigit(value[i]); i++) {
    const auto digit = static_cast<uint64_t>(value[i] - '0');
    if (result > (kMax - digit) / 10) return ParseError::kInvalidContentLength;
    result = result * 10 + digit;
  }
  if (i == 0 && (complete || !value.empty())) return ParseError::kInvalidContentLength;
  if (value.find_first_not_of(' ', i) != std::string_view::npos) {
    return ParseError::kInvalidContentLength;
  }
  *length = result;
  return ParseError::kNone;
}

ParseError CheckTransferEncoding(std::string_view value, bool complete) {
  const size_t known = std::min(value.size(), kChunked.size());
  const bool is_chunked = EqualsIgnoringCase(value.substr(0, known), kChunked.substr(0, known)) &&
                          value.find_first_not_of(' ', known) == std::string_view::npos;
  if (!is_chunked || (complete && known < kChunked.size())) {
    return ParseError::kInvalidTransferEncoding;
  }
  return ParseError::kNone;
}

void ReadConnection(std::string_view value, ConnectionOptions* options) {
  while (!value.empty()) {
    const size_t comma = std::min(value.find(','), value.size());
    std::string_view option = value.substr(0, comma);
    value.remove_prefix(std::min(comma + 1, value.size()));
    option.remove_prefix(std::min(option.find_first_not_of(" \t"), option.size()));
    // Keep a tab: for llhttp, `close<HTAB>` is another word.
    option = option.substr(0, option.find_last_not_of(' ') + 1);
    if (EqualsIgnoringCase(option, "close")) options->close = true;
    if (EqualsIgnoringCase(option, "keep-alive")) options->keep_alive = true;
    if (EqualsIgnoringCase(option, "upgrade")) options->upgrade = true;
  }
}

bool ExpectsContinue(std::string_view value) {
  for (size_t i = 0; i + kContinue.size() <= value.size(); i++) {
    const size_t end = i + kContinue.size();
    if (i > 0 && IsWordChar(value[i - 1])) continue;
    if (end < value.size() && IsWordChar(value[end])) continue;
    if (EqualsIgnoringCase(value.substr(i, kContinue.size()), kContinue)) return true;
  }
  return false;
}

}  // namespace httpsys::http1
