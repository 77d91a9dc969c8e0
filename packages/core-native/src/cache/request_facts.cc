#include "cache/request_facts.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "semantics/list_members.h"

namespace httpsys::cache {
namespace {

template <size_t kSize>
bool IsOneOf(std::string_view name, const std::array<std::string_view, kSize>& lower) {
  return std::any_of(lower.begin(), lower.end(),
                     [=](std::string_view one) { return EqualsIgnoringCase(name, one); });
}

constexpr std::array<std::string_view, 20> kHarmlessFields{
    "host",
    "accept",
    "user-agent",
    "connection",
    "keep-alive",
    "priority",
    "dnt",
    "cache-control",
    "pragma",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "if-range",
    "range",
    "te",
    "upgrade-insecure-requests",
    "save-data",
    "traceparent",
    "tracestate",
};

constexpr std::array<std::string_view, 4> kForwardingFields{"forwarded", "x-host", "x-url-scheme",
                                                            "front-end-https"};

constexpr std::array<std::string_view, 6> kOverridingFields{
    "x-original-url",         "x-rewrite-url",     "x-http-method",
    "x-http-method-override", "x-method-override", "x-original-uri"};

constexpr std::array<std::string_view, 6> kSafeMethods{"OPTIONS", "TRACE",  "PROPFIND",
                                                       "REPORT",  "SEARCH", "QUERY"};

MethodKind KindOf(std::string_view method) {
  if (method == "GET") return MethodKind::kGet;
  if (method == "HEAD") return MethodKind::kHead;
  const bool is_safe =
      std::find(kSafeMethods.begin(), kSafeMethods.end(), method) != kSafeMethods.end();
  return is_safe ? MethodKind::kSafe : MethodKind::kOther;
}

// Referer and Sec-Fetch-Site are not harmless: applications reject requests from foreign pages by
// them, mostly without sending Vary.
bool IsHarmlessField(std::string_view name) {
  if (StartsIgnoringCase(name, "sec-")) return !EqualsIgnoringCase(name, "sec-fetch-site");
  return StartsIgnoringCase(name, "accept-") || IsOneOf(name, kHarmlessFields) ||
         IsForwardingField(name);
}

// A quick test: returns false if ReadRequest() reads no field whose name begins with this letter.
bool MayMatter(std::string_view name) {
  constexpr uint32_t kFirstLetters = [] {
    uint32_t letters = 0;
    for (const char letter : {'a', 'c', 'i', 'p', 'r', 't', 'u', 'x'})
      letters |= 1u << (letter - 'a');
    return letters;
  }();
  if (name.empty()) return false;
  const auto letter = static_cast<uint32_t>(LowerCase(name.front()) - 'a');
  return letter < 26 && (kFirstLetters >> letter & 1) != 0;
}

bool SaysNoCache(std::string_view pragma) {
  std::string_view member;
  for (semantics::ListMembers members(pragma); members.Next(&member);) {
    if (EqualsIgnoringCase(member, "no-cache")) return true;
  }
  return false;
}

}  // namespace

bool IsForwardingField(std::string_view name) {
  // A cheap test first: this function is called for every field of every request.
  const char first = name.empty() ? '\0' : LowerCase(name.front());
  if (first != 'x' && first != 'f') return false;
  if (StartsIgnoringCase(name, "x-forwarded-")) return !EqualsIgnoringCase(name, "x-forwarded-for");
  return IsOneOf(name, kForwardingFields);
}

RequestFacts ReadRequest(const http1::RequestHead& head, std::string_view method,
                         bool has_client_certificate, std::span<const std::string> harmless) {
  RequestFacts facts;
  bool says_no_cache = false;
  facts.method = KindOf(method);
  facts.has_client_certificate = has_client_certificate;
  facts.has_body = head.has_body();
  facts.has_upgrade = head.upgrade;
  facts.expects_other = head.expect == http1::Expectation::kOther;
  facts.has_clear_host = head.has_host && !head.repeats_host;
  for (const auto& [name, value] : head.lines) {
    facts.is_harmless =
        facts.is_harmless && (IsHarmlessField(name) ||
                              std::any_of(harmless.begin(), harmless.end(), [&](const auto& one) {
                                return EqualsIgnoringCase(name, one);
                              }));
    if (!MayMatter(name)) continue;
    if (EqualsIgnoringCase(name, "cache-control")) {
      semantics::ReadCacheControl(value, &facts.control);
    } else if (EqualsIgnoringCase(name, "pragma")) {
      says_no_cache = says_no_cache || SaysNoCache(value);
    } else if (EqualsIgnoringCase(name, "authorization") ||
               EqualsIgnoringCase(name, "proxy-authorization")) {
      facts.has_authorization = true;
    } else if (EqualsIgnoringCase(name, "cookie")) {
      facts.has_cookie = true;
    } else if (EqualsIgnoringCase(name, "upgrade")) {
      facts.has_upgrade = true;
    } else if (EqualsIgnoringCase(name, "transfer-encoding")) {
      facts.has_body = true;
    } else if (EqualsIgnoringCase(name, "range") || EqualsIgnoringCase(name, "if-range")) {
      facts.has_range = true;
    } else if (EqualsIgnoringCase(name, "if-match") ||
               EqualsIgnoringCase(name, "if-unmodified-since")) {
      facts.has_precondition = true;
    } else if (EqualsIgnoringCase(name, "translate")) {
      facts.has_translate = facts.has_translate || EqualsIgnoringCase(value, "f");
    } else if (IsOneOf(name, kOverridingFields)) {
      facts.overrides_url = true;
    }
  }
  if (says_no_cache && !facts.control.is_present) facts.control.no_cache.Add();
  return facts;
}

}  // namespace httpsys::cache
