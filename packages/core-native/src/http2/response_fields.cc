#include "http2/response_fields.h"

#include <algorithm>

#include "base/ascii.h"
#include "http1/byte_scan.h"

namespace httpsys::http2 {
namespace {

using http1::HeaderLine;

constexpr std::string_view kStatusName = ":status";

uint8_t* Bytes(std::string_view text) {
  // nghttp2 declares the text of fields as non-const, but does not change it.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

bool IsOfConnection(std::string_view name) {
  switch (name.size()) {
    case 2:
      return name == "te";
    case 7:
      return name == "upgrade";
    case 10:
      return name == "connection" || name == "keep-alive";
    case 14:
      return name == "http2-settings";
    case 16:
      return name == "proxy-connection";
    case 17:
      return name == "transfer-encoding";
    default:
      return false;
  }
}

bool IsName(std::string_view name) {
  const char* const end = name.data() + name.size();
  return http1::SkipToken(name.data(), end) == end;
}

bool IsValue(std::string_view value) {
  const char* const end = value.data() + value.size();
  return http1::SkipFieldValue(value.data(), end) == end;
}

}  // namespace

void ResponseFields::Begin(const std::vector<HeaderLine>& lines) {
  fields_.clear();
  nominated_.clear();
  closes_ = false;
  size_t bytes = 0;
  for (const HeaderLine& line : lines) {
    bytes += line.name.size();
    if (line.name.size() != 10 || !EqualsIgnoringCase(line.name, "connection")) continue;
    std::string_view rest = line.value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view option = rest.substr(0, comma);
      const size_t from = std::min(option.find_first_not_of(" \t"), option.size());
      const std::string_view name = option.substr(from, option.find_last_not_of(" \t") + 1 - from);
      if (EqualsIgnoringCase(name, "close")) {
        closes_ = true;
      } else if (!name.empty()) {
        nominated_.push_back(name);
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  // `names_` has its final length now, so views into it stay valid.
  names_.resize(bytes);
}

bool ResponseFields::IsNominated(std::string_view lower_name) const {
  return std::any_of(nominated_.begin(), nominated_.end(),
                     [=](std::string_view name) { return EqualsIgnoringCase(name, lower_name); });
}

void ResponseFields::Add(std::string_view name, std::string_view value) {
  fields_.push_back({Bytes(name), Bytes(value), name.size(), value.size(), 0});
}

void ResponseFields::AddStatus(int status) {
  status_[0] = static_cast<char>('0' + status / 100 % 10);
  status_[1] = static_cast<char>('0' + status / 10 % 10);
  status_[2] = static_cast<char>('0' + status % 10);
  Add(kStatusName, {status_, sizeof status_});
}

void ResponseFields::AddLines(const std::vector<HeaderLine>& lines, bool is_accept) {
  char* at = names_.data();
  for (const HeaderLine& line : lines) {
    const std::string_view name(at, line.name.size());
    at = std::transform(line.name.begin(), line.name.end(), at, LowerCase);
    if (IsOfConnection(name) || IsNominated(name) || !IsName(name) || !IsValue(line.value)) {
      continue;
    }
    if (is_accept && name == "sec-websocket-accept") continue;
    Add(name, line.value);
  }
}

void ResponseFields::Fill(int status, const std::vector<HeaderLine>& lines) {
  Begin(lines);
  AddStatus(status);
  AddLines(lines, false);
}

void ResponseFields::FillAccept(const std::vector<HeaderLine>& lines) {
  Begin(lines);
  AddStatus(200);
  AddLines(lines, true);
}

void ResponseFields::FillTrailers(const std::vector<HeaderLine>& lines) {
  Begin(lines);
  AddLines(lines, false);
}

}  // namespace httpsys::http2
