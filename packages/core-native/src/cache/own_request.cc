#include "cache/own_request.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "cache/request_facts.h"
#include "semantics/list_members.h"

namespace httpsys::cache {
namespace {

using http1::HeaderLine;
using http1::RequestHead;

constexpr std::array<std::string_view, 20> kOfOneClient{
    "authorization",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "pragma",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
};

bool IsOfOneClient(std::string_view name) {
  return std::any_of(kOfOneClient.begin(), kOfOneClient.end(),
                     [=](std::string_view one) { return EqualsIgnoringCase(name, one); });
}

bool IsSameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

// Returns true if a Connection field of the request names this field: it then concerns the
// connection only (RFC 9110, section 7.6.1).
bool IsNamedByConnection(const RequestHead& request, std::string_view name) {
  for (const HeaderLine& line : request.lines) {
    if (!EqualsIgnoringCase(line.name, "connection")) continue;
    std::string_view member;
    for (semantics::ListMembers members(line.value); members.Next(&member);) {
      if (IsSameName(member, name)) return true;
    }
  }
  return false;
}

RequestHead WithoutLines(const RequestHead& request, uint16_t get_method) {
  RequestHead head;
  head.method = get_method;
  head.has_host = request.has_host;
  head.target = request.target;
  head.host = request.host;
  return head;
}

}  // namespace

std::optional<RequestHead> MakeRefreshHead(const RequestHead& request, const VaryNames& vary,
                                           uint16_t get_method) {
  RequestHead head = WithoutLines(request, get_method);
  for (const HeaderLine& line : request.lines) {
    const bool selects = EqualsIgnoringCase(line.name, "host") || IsForwardingField(line.name) ||
                         vary.Contains(line.name);
    if (!selects) continue;
    if (IsOfOneClient(line.name)) return std::nullopt;
    head.lines.push_back(line);
  }
  return head;
}

RequestHead MakeSubstituteHead(const RequestHead& request, uint16_t get_method) {
  RequestHead head = WithoutLines(request, get_method);
  for (const HeaderLine& line : request.lines) {
    if (IsOfOneClient(line.name) || IsNamedByConnection(request, line.name)) continue;
    head.lines.push_back(line);
  }
  return head;
}

}  // namespace httpsys::cache
