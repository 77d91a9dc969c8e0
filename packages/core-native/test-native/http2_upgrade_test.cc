#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "http2/upgrade.h"

namespace httpsys::http2 {
namespace {

constexpr std::string_view kLines =
    "Host: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n";
constexpr std::string_view kSettings = "HTTP2-Settings: AAMAAABkAAQAAP__\r\n";

class Http2UpgradeTest : public testing::Test {
 protected:
  bool Read(std::string text) {
    message_ = std::move(text) + "\r\n";
    parser_.Reset(16 * 1024);
    EXPECT_EQ(parser_.Parse(message_), http1::ParseStatus::kDone);
    return ReadUpgrade(parser_.head(), &settings_);
  }

  http1::MethodTable methods_{{"GET", "POST", "CONNECT", "HEAD"}};
  http1::RequestParser parser_{&methods_};
  std::string message_;
  std::string settings_;
};

TEST_F(Http2UpgradeTest, ItHasItsSettings) {
  ASSERT_TRUE(Read("GET /a HTTP/1.1\r\n" + std::string(kLines) + std::string(kSettings)));
  EXPECT_EQ(settings_, std::string("\0\3\0\0\0\x64\0\4\0\0\xff\xff", 12));
  EXPECT_TRUE(Read("GET / HTTP/1.1\r\n" + std::string(kLines) + "HTTP2-Settings: \r\n"));
  EXPECT_EQ(settings_, "");
}

TEST_F(Http2UpgradeTest, WhatIsNotInFormStaysHttp1) {
  const std::string lines(kLines);
  const std::string get = "GET / HTTP/1.1\r\n";
  const std::string settings(kSettings);
  EXPECT_FALSE(Read(get + lines));
  EXPECT_FALSE(Read(get + lines + settings + settings));
  EXPECT_FALSE(Read(get + lines + "HTTP2-Settings: AAMAAABkAAQAAP_\r\n"));
  EXPECT_FALSE(Read(get + lines + "HTTP2-Settings: AAMAAABk+\r\n"));
  EXPECT_FALSE(Read(get + lines + "HTTP2-Settings: AAMA\r\n"));
  EXPECT_FALSE(Read(get + lines + "HTTP2-Settings: " +
                    std::string(limits::kHttp2UpgradeSettingsBytes + 4, 'A') + "\r\n"));
  EXPECT_FALSE(Read(get + "Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n" + settings));
  EXPECT_FALSE(
      Read(get + "Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2\r\n" + settings));
  EXPECT_FALSE(Read("GET http://a/ HTTP/1.1\r\n" + lines + settings));
  EXPECT_FALSE(Read("GET /a#b HTTP/1.1\r\n" + lines + settings)) << "malformed in HTTP/2";
  EXPECT_FALSE(Read(get + "Host: u@a.test\r\n" + lines.substr(lines.find("Conn")) + settings));
  EXPECT_FALSE(Read(get + "Host: a.test\r\n" + lines + settings)) << "which of the two?";
  EXPECT_FALSE(Read("POST / HTTP/1.1\r\n" + lines + settings + "Transfer-Encoding: chunked\r\n"));
  EXPECT_FALSE(Read("POST / HTTP/1.1\r\n" + lines + settings + "Content-Length: 1000000\r\n"));
  EXPECT_FALSE(Read("POST / HTTP/1.1\r\n" + lines + settings +
                    "Content-Length: 1\r\nExpect: 100-continue\r\n"));
}

TEST_F(Http2UpgradeTest, FieldsAboutTheConnectionStayBehind) {
  ASSERT_TRUE(Read("POST /a?b HTTP/1.1\r\nX-One: 1\r\n" + std::string(kLines) +
                   std::string(kSettings) + "TE: trailers\r\nContent-Length: 2\r\n"));
  RequestFields fields;
  fields.Reset(16 * 1024, 100);
  AddUpgradedFields(parser_.head(), "POST", &fields);
  http1::RequestHead head;
  ASSERT_EQ(fields.Finish(methods_, false, &head), FieldsStatus::kDone);
  EXPECT_EQ(head.target, "/a?b");
  EXPECT_EQ(head.host, "a.test");
  EXPECT_EQ(head.content_length, 2u);
  ASSERT_EQ(head.lines.size(), 3u);
  EXPECT_EQ(head.lines[0].name, "host");
  EXPECT_EQ(head.lines[1].name, "x-one");
  EXPECT_EQ(head.lines[2].name, "content-length");
  EXPECT_FALSE(head.upgrade);
}

}  // namespace
}  // namespace httpsys::http2
