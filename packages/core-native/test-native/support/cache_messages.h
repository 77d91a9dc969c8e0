#pragma once
// Requests and responses for tests of the cache, written as text.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/request_facts.h"
#include "cache/response_facts.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "http1/response_head.h"

namespace httpsys::cache {

// 27 November 2026, 12:00:00 GMT.
inline constexpr int64_t kNowS = 1'795'780'800;
inline constexpr std::string_view kNowText = "Fri, 27 Nov 2026 12:00:00 GMT";

// A parsed request, and the memory of its views.
class TestRequest {
 public:
  // `lines` are separated with `|`. A Host line is added.
  explicit TestRequest(std::string_view lines = {}, std::string_view method = "GET",
                       std::string_view target = "/a", bool has_certificate = false)
      : methods_({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
                  "PURGE", "PROPFIND"}),
        parser_(&methods_) {
    text_.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: a.example\r\n");
    AppendLines(lines, &text_);
    parser_.Reset(64 * 1024);
    EXPECT_EQ(parser_.Parse(text_), http1::ParseStatus::kDone) << text_;
    facts_ = ReadRequest(parser_.head(), method, has_certificate);
  }
  TestRequest(const TestRequest&) = delete;
  TestRequest& operator=(const TestRequest&) = delete;

  const http1::RequestHead& head() const { return parser_.head(); }
  const RequestFacts& facts() const { return facts_; }

  static void AppendLines(std::string_view lines, std::string* text) {
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('|'), lines.size());
      text->append(lines.substr(0, end)).append("\r\n");
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    text->append("\r\n");
  }

 private:
  http1::MethodTable methods_;
  http1::RequestParser parser_;
  std::string text_;
  RequestFacts facts_;
};

// A parsed response, and the memory of its views.
class TestResponse {
 public:
  // `lines` are separated with `|`; nothing is added.
  explicit TestResponse(std::string_view lines = {}, int status = 200, int64_t now_s = kNowS) {
    text_ = "HTTP/1.1 " + std::to_string(status) + " Text\r\n";
    TestRequest::AppendLines(lines, &text_);
    EXPECT_TRUE(http1::ParseResponseHead(text_, &head_)) << text_;
    facts_ = ReadResponse(head_.status, head_.lines, now_s);
  }
  TestResponse(const TestResponse&) = delete;
  TestResponse& operator=(const TestResponse&) = delete;

  const ResponseFacts& facts() const { return facts_; }

 private:
  std::string text_;
  http1::ResponseHead head_;
  ResponseFacts facts_;
};

}  // namespace httpsys::cache
