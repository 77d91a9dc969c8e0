#include "http2/upgrade.h"

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/limits.h"
#include "http1/request_host.h"

namespace httpsys::http2 {
namespace {

using http1::HeaderLine;

constexpr size_t kSettingBytes = 6;

// Returns true if the comma-separated list has the word.
bool HasWord(std::string_view list, std::string_view word) {
  while (true) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, end);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    if (EqualsIgnoringCase(item, word)) return true;
    if (end == list.size()) return false;
    list.remove_prefix(end + 1);
  }
}

int Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  return c == '_' ? 63 : -1;
}

// Decodes base64url without padding.
bool Decode(std::string_view text, std::string* bytes) {
  bytes->clear();
  if (text.size() % 4 == 1) return false;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = Digit(c);
    if (digit < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes->push_back(static_cast<char>(bits >> count & 0xff));
  }
  return (bits & ((1u << count) - 1)) == 0;
}

bool StaysBehind(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "connection", "http2-settings",   "upgrade",           "host",  "keep-alive",
      "te",         "proxy-connection", "transfer-encoding", "expect"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [=](std::string_view each) { return EqualsIgnoringCase(name, each); });
}

}  // namespace

bool ReadUpgrade(const http1::RequestHead& head, std::string* settings) {
  // A client that waits for a 100 has not sent the body, and a body in chunks has no bounded
  // length. A request that HTTP/2 would refuse, or that has no single valid Host, stays on
  // HTTP/1.1.
  const bool has_form =
      head.upgrade && head.has_host && head.version_minor == 1 &&
      head.body != http1::BodyKind::kChunked && head.expect == http1::Expectation::kNone &&
      head.content_length <= limits::kInlineBodyBytesMax && !head.target.empty() &&
      head.target.front() == '/' && head.target.find('#') == std::string_view::npos &&
      http1::HostOf(head).is_valid;
  if (!has_form) return false;
  bool names_protocol = false;
  bool names_settings = false;
  int settings_lines = 0;
  for (const HeaderLine& line : head.lines) {
    if (EqualsIgnoringCase(line.name, "upgrade")) names_protocol |= HasWord(line.value, "h2c");
    if (EqualsIgnoringCase(line.name, "connection"))
      names_settings |= HasWord(line.value, "http2-settings");
    if (!EqualsIgnoringCase(line.name, "http2-settings")) continue;
    ++settings_lines;
    const bool is_fine = line.value.size() <= limits::kHttp2UpgradeSettingsBytes &&
                         Decode(line.value, settings) && settings->size() % kSettingBytes == 0;
    if (!is_fine) return false;
  }
  return names_protocol && names_settings && settings_lines == 1;
}

void AddUpgradedFields(const http1::RequestHead& head, std::string_view method,
                       RequestFields* fields) {
  fields->Add(":method", method);
  fields->Add(":scheme", "http");
  fields->Add(":authority", head.host);
  fields->Add(":path", head.target);
  std::string name;
  for (const HeaderLine& line : head.lines) {
    if (StaysBehind(line.name)) continue;
    name.assign(line.name);
    std::transform(name.begin(), name.end(), name.begin(), LowerCase);
    fields->Add(name, line.value);
  }
}

}  // namespace httpsys::http2
