#include "cache/own_request.h"

#include <gtest/gtest.h>

#include <string>

#include "support/cache_messages.h"

namespace httpsys::cache {
namespace {

constexpr uint16_t kGet = 7;

// The fields of a request, one line each.
std::string LinesOf(const http1::RequestHead& head) {
  std::string lines;
  for (const auto& [name, value] : head.lines) {
    lines.append(name).append(": ").append(value).append("|");
  }
  return lines;
}

std::string RefreshOf(std::string_view lines, std::string_view vary = {}) {
  const TestRequest request(lines, "GET", "/a?b");
  VaryNames names;
  names.Add(vary);
  const std::optional<http1::RequestHead> head = MakeRefreshHead(request.head(), names, kGet);
  return head.has_value() ? LinesOf(*head) : "none";
}

std::string SubstituteOf(std::string_view lines) {
  const TestRequest request(lines, "GET", "/a?b");
  return LinesOf(MakeSubstituteHead(request.head(), kGet));
}

TEST(OwnRequestTest, ARefreshHasWhatSelectsTheResponseAndNothingElse) {
  const std::string lines =
      "Accept: a|X-FORWARDED-proto: https|X-Forwarded-For: 1|Cookie: c|X-Tenant: t|x-tenant: u";
  EXPECT_EQ(RefreshOf(lines), "Host: a.example|X-FORWARDED-proto: https|");
  EXPECT_EQ(RefreshOf(lines, "x-tenant, Accept"),
            "Host: a.example|Accept: a|X-FORWARDED-proto: https|X-Tenant: t|x-tenant: u|");
  EXPECT_EQ(RefreshOf(lines, "other"), "Host: a.example|X-FORWARDED-proto: https|");
}

TEST(OwnRequestTest, AResponseThatDependsOnWhatARefreshCannotHaveIsNotRefreshed) {
  for (const std::string name : {"Range", "IF-MATCH", "te", "Cookie", "Expect", "Pragma"}) {
    EXPECT_EQ(RefreshOf(name + ": x", name), "none") << name;
    // Without the field, the request selects the response without it.
    EXPECT_EQ(RefreshOf("", name), "Host: a.example|") << name;
    EXPECT_EQ(RefreshOf(name + ": x"), "Host: a.example|") << name;
  }
}

TEST(OwnRequestTest, BothAreRequestsOfTheirOwnConnection) {
  TestRequest request("Connection: close, X-Hop|X-Hop: 1|Expect: 100-continue|Content-Length: 3",
                      "POST", "/a?b");
  const http1::RequestHead refresh = *MakeRefreshHead(request.head(), VaryNames(), kGet);
  const http1::RequestHead substitute = MakeSubstituteHead(request.head(), kGet);
  for (const http1::RequestHead& head : {refresh, substitute}) {
    EXPECT_EQ(head.method, kGet);
    EXPECT_EQ(head.target, "/a?b");
    EXPECT_EQ(head.host, "a.example");
    EXPECT_TRUE(head.has_host);
    EXPECT_EQ(head.body, http1::BodyKind::kNone);
    EXPECT_EQ(head.content_length, 0u);
    EXPECT_EQ(head.expect, http1::Expectation::kNone);
    EXPECT_FALSE(head.upgrade);
    EXPECT_EQ(LinesOf(head), "Host: a.example|");
  }
}

TEST(OwnRequestTest, ASubstituteKeepsWhatItsResponseMayDependOn) {
  EXPECT_EQ(SubstituteOf("Accept: a|X-Tenant: t|If-None-Match: 1|Range: r|Cache-Control: c"),
            "Host: a.example|Accept: a|X-Tenant: t|");
}

}  // namespace
}  // namespace httpsys::cache
