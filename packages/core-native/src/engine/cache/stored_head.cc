#include "engine/cache/stored_head.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "semantics/list_members.h"

namespace httpsys::engine {
namespace {

using http1::HeaderLine;

template <size_t kSize>
bool IsOneOf(std::string_view name, const std::array<std::string_view, kSize>& lower) {
  return std::any_of(lower.begin(), lower.end(),
                     [=](std::string_view one) { return EqualsIgnoringCase(name, one); });
}

bool IsSameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return LowerCase(x) == LowerCase(y);
         });
}

bool IsOfConnection(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
       "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
       "proxy-authorization"});
  return IsOneOf(name, kNames);
}

// Returns true if a Connection field of the message names this field.
bool IsNamedByConnection(std::span<const HeaderLine> lines, std::string_view name) {
  for (const HeaderLine& line : lines) {
    if (!EqualsIgnoringCase(line.name, "connection")) continue;
    std::string_view member;
    for (semantics::ListMembers members(line.value); members.Next(&member);) {
      if (IsSameName(member, name)) return true;
    }
  }
  return false;
}

void AppendLine(const HeaderLine& line, std::string* to) {
  to->append(line.name).append(": ").append(line.value).append("\r\n");
}

}  // namespace

void AppendStoredHead(std::string_view status_line, std::span<const HeaderLine> lines,
                      bool renews_date, std::string* to) {
  to->append(status_line).append("\r\n");
  const std::string_view renewed = renews_date ? "date" : "age";
  for (const HeaderLine& line : lines) {
    if (IsOfConnection(line.name) || EqualsIgnoringCase(line.name, renewed) ||
        IsNamedByConnection(lines, line.name)) {
      continue;
    }
    AppendLine(line, to);
  }
}

void AppendUpdatedHead(std::string_view stored, std::span<const HeaderLine> lines,
                       std::string* to) {
  constexpr auto kOfContent = std::to_array<std::string_view>(
      {"content-length", "content-encoding", "content-range", "age"});
  const auto updates = [&](const HeaderLine& line) {
    return !IsOfConnection(line.name) && !IsOneOf(line.name, kOfContent) &&
           !IsNamedByConnection(lines, line.name);
  };
  std::string_view line;
  bool is_first = true;
  while (TakeHeadLine(&stored, &line)) {
    const std::string_view name = is_first ? std::string_view() : SplitHeadLine(line).name;
    const bool is_replaced =
        !is_first && std::any_of(lines.begin(), lines.end(), [&](const HeaderLine& update) {
          return IsSameName(update.name, name) && updates(update);
        });
    if (!is_replaced) to->append(line).append("\r\n");
    is_first = false;
  }
  for (const HeaderLine& update : lines) {
    if (updates(update)) AppendLine(update, to);
  }
}

void AppendCodedHead(std::string_view stored, std::string_view coding, uint64_t body_bytes,
                     std::string* to) {
  constexpr auto kOfPlain = std::to_array<std::string_view>({"content-length", "accept-ranges"});
  std::string_view line;
  (void)TakeHeadLine(&stored, &line);
  to->append(line).append("\r\n");
  while (TakeHeadLine(&stored, &line)) {
    const HeaderLine field = SplitHeadLine(line);
    if (IsOneOf(field.name, kOfPlain)) continue;
    if (EqualsIgnoringCase(field.name, "etag") && field.value.starts_with('"')) {
      to->append(field.name).append(": W/").append(field.value).append("\r\n");
    } else {
      to->append(line).append("\r\n");
    }
  }
  to->append("Content-Encoding: ").append(coding).append("\r\nContent-Length: ");
  to->append(std::to_string(body_bytes)).append("\r\n");
}

bool TakeHeadLine(std::string_view* head, std::string_view* line) {
  if (head->empty()) return false;
  const size_t end = head->find("\r\n");
  *line = head->substr(0, end);
  head->remove_prefix(end == std::string_view::npos ? head->size() : end + 2);
  return true;
}

HeaderLine SplitHeadLine(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {line, {}};
  return {line.substr(0, colon), semantics::Trim(line.substr(colon + 1))};
}

std::string_view HeadValue(std::string_view head, std::string_view name) {
  std::string_view line;
  (void)TakeHeadLine(&head, &line);
  while (TakeHeadLine(&head, &line)) {
    const HeaderLine field = SplitHeadLine(line);
    if (EqualsIgnoringCase(field.name, name)) return field.value;
  }
  return {};
}

}  // namespace httpsys::engine
