#include "engine/shared_cache/foreign_head.h"

#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "engine/cache/stored_head.h"
#include "http1/byte_scan.h"

namespace httpsys::engine {
namespace {

constexpr std::string_view kHeadVersion = "HTTP/1.1 ";
constexpr size_t kHeadStatusDigits = 3;

bool IsFieldText(std::string_view text) {
  const char* const end = text.data() + text.size();
  return http1::SkipFieldValue(text.data(), end) == end;
}

bool IsFieldToken(std::string_view text) {
  const char* const end = text.data() + text.size();
  return !text.empty() && http1::SkipToken(text.data(), end) == end;
}

std::optional<uint64_t> ReadDecimal(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool IsSoundHead(std::string_view head, uint16_t status, uint64_t body_bytes) {
  if (status < 200 || status > 599 || !head.ends_with("\r\n")) return false;
  std::string_view line;
  (void)TakeHeadLine(&head, &line);
  const bool is_status_line =
      line.starts_with(kHeadVersion) && IsFieldText(line) &&
      ReadDecimal(line.substr(kHeadVersion.size(), kHeadStatusDigits)) == status &&
      (line.size() == kHeadVersion.size() + kHeadStatusDigits ||
       line[kHeadVersion.size() + kHeadStatusDigits] == ' ');
  if (!is_status_line) return false;
  bool has_length = false;
  while (TakeHeadLine(&head, &line)) {
    const std::string_view name = line.substr(0, line.find(':'));
    if (name.size() == line.size() || !IsFieldToken(name) || !IsFieldText(line)) return false;
    if (EqualsIgnoringCase(name, "transfer-encoding") || EqualsIgnoringCase(name, "connection")) {
      return false;
    }
    if (!EqualsIgnoringCase(name, "content-length")) continue;
    if (has_length || ReadDecimal(SplitHeadLine(line).value) != body_bytes) return false;
    has_length = true;
  }
  const bool has_no_body = status == 204 || status == 304;
  return has_no_body ? body_bytes == 0 : has_length;
}

}  // namespace httpsys::engine
