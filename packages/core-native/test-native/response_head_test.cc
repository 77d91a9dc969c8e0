#include "http1/response_head.h"

#include <gtest/gtest.h>

#include <string>

namespace httpsys::http1 {
namespace {

TEST(ResponseHead, StatusReasonAndLinesAreTold) {
  const std::string text = "HTTP/1.1 404 Not Found\r\nA: b\r\nSet-Cookie:c=1; d\r\nE: \r\n\r\n";
  ResponseHead head;
  ASSERT_TRUE(ParseResponseHead(text, &head));
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not Found");
  ASSERT_EQ(head.lines.size(), 3u);
  EXPECT_EQ(head.lines[0].name, "A");
  EXPECT_EQ(head.lines[0].value, "b");
  EXPECT_EQ(head.lines[1].name, "Set-Cookie");
  EXPECT_EQ(head.lines[1].value, "c=1; d");
  EXPECT_EQ(head.lines[2].value, "");
}

TEST(ResponseHead, TheReasonMayBeMissingWithItsSpace) {
  ResponseHead head;
  for (const char* text : {"HTTP/1.1 200\r\n\r\n", "HTTP/1.0 200 \r\n\r\n"}) {
    ASSERT_TRUE(ParseResponseHead(text, &head)) << text;
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.reason, "");
    EXPECT_TRUE(head.lines.empty());
  }
}

TEST(ResponseHead, AnotherHeadFollowsOneThatIsInterim) {
  ResponseHead head;
  ASSERT_TRUE(ParseResponseHead("HTTP/1.1 100 Continue\r\n\r\n", &head));
  EXPECT_TRUE(head.is_interim());
  ASSERT_TRUE(ParseResponseHead("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", &head));
  EXPECT_TRUE(head.is_interim());
  ASSERT_TRUE(ParseResponseHead("HTTP/1.1 101 Switching Protocols\r\n\r\n", &head));
  EXPECT_FALSE(head.is_interim());
  ASSERT_TRUE(ParseResponseHead("HTTP/1.1 204 No Content\r\n\r\n", &head));
  EXPECT_FALSE(head.is_interim());
}

TEST(ResponseHead, WhatIsNoneIsRefused) {
  ResponseHead head;
  for (const char* text : {
           "",
           "\r\n\r\n",
           "hello\r\n\r\n",
           "HTTP/2.0 200 OK\r\n\r\n",
           "HTTP/1.x 200 OK\r\n\r\n",
           "HTTP/1.1  200 OK\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 099 OK\r\n\r\n",
           "HTTP/1.1 200 O\x01K\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA: b\x7f\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
           "HTTP/1.1 200 OK\r\nA: b\r\n",
       }) {
    EXPECT_FALSE(ParseResponseHead(text, &head)) << text;
  }
}

TEST(ResponseHead, ItsLengthIsKnownWithItsLastByte) {
  const std::string text = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_EQ(ResponseHeadBytes(text.substr(0, bytes)), 0u) << bytes;
  }
  EXPECT_EQ(ResponseHeadBytes(text), text.size());
  EXPECT_EQ(ResponseHeadBytes(text + "body\r\n\r\n"), text.size());
}

}  // namespace
}  // namespace httpsys::http1
