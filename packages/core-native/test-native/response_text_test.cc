#include "http2/response_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace httpsys::http2 {
namespace {

using Kind = ResponseText::Kind;

struct Seen {
  std::string heads;
  std::string body;
  std::string trailers;
  bool is_whole = false;
  bool has_failed = false;
};

// As a session reads it: heads of 1xx are followed by others.
Seen Read(std::string_view text, size_t piece) {
  ResponseText reader;
  ResponseHead head;
  Seen seen;
  for (size_t at = 0; at < text.size() && !seen.has_failed; at += piece) {
    std::string_view input = text.substr(at, piece);
    while (!input.empty() && !seen.has_failed) {
      const ResponseText::Step step = reader.Next(input);
      input.remove_prefix(step.used);
      switch (step.kind) {
        case Kind::kHead:
          seen.has_failed = !ParseResponseHead(step.bytes, &head);
          seen.heads += std::to_string(head.status) + ' ';
          if (head.status < 200) break;
          if (head.is_chunked) {
            reader.BeginChunks();
          } else if (head.has_length) {
            reader.BeginLength(head.content_length);
          } else {
            reader.BeginUntilEnd();
          }
          break;
        case Kind::kBody:
          seen.body += step.bytes;
          break;
        case Kind::kTrailers:
          seen.trailers += step.bytes;
          break;
        case Kind::kFailed:
          seen.has_failed = true;
          break;
        case Kind::kNeedMore:
          break;
      }
    }
  }
  seen.is_whole = reader.is_whole();
  return seen;
}

TEST(ResponseTextTest, AMessageIsTheSameHoweverItIsSplit) {
  const std::string text =
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;x=\"y\"\r\n world\r\n0\r\nX-T: v\r\n\r\n";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const Seen seen = Read(text, piece);
    EXPECT_FALSE(seen.has_failed) << piece;
    EXPECT_EQ(seen.heads, "103 200 ") << piece;
    EXPECT_EQ(seen.body, "hello world") << piece;
    EXPECT_EQ(seen.trailers, "X-T: v\r\n\r\n") << piece;
    EXPECT_TRUE(seen.is_whole) << piece;
  }
}

TEST(ResponseTextTest, ALengthEndsTheMessage) {
  const Seen seen = Read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", 7);
  EXPECT_EQ(seen.body, "abc");
  EXPECT_TRUE(seen.is_whole);
  EXPECT_FALSE(Read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 7).is_whole);
  EXPECT_FALSE(Read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 7).is_whole);
}

TEST(ResponseTextTest, WithoutAnyTheEndIsTheEnd) {
  const Seen seen = Read("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc", 100);
  EXPECT_EQ(seen.body, "abc");
  EXPECT_TRUE(seen.is_whole);
}

TEST(ResponseTextTest, WhatIsNoHttpFails) {
  EXPECT_TRUE(Read("hello\r\n\r\n", 100).has_failed);
  EXPECT_TRUE(Read("HTTP/1.1 OK\r\n\r\n", 100).has_failed);
  EXPECT_TRUE(Read("HTTP/1.1 200 OK\r\nno line\r\n\r\n", 100).has_failed);
  EXPECT_TRUE(Read("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 100).has_failed);
  EXPECT_TRUE(Read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 100).has_failed);
  EXPECT_TRUE(
      Read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", 100).has_failed);
  const std::string endless = "HTTP/1.1 200 OK\r\n" + std::string(2 * 1024 * 1024, 'x');
  EXPECT_TRUE(Read(endless, 64 * 1024).has_failed);
}

// What goes by reference is counted without being looked at.
TEST(ResponseText, SkipsBodyOfAKnownLength) {
  ResponseText reader;
  reader.BeginLength(10);
  ASSERT_TRUE(reader.IsNextBody(4));
  reader.SkipBody(4);
  EXPECT_FALSE(reader.IsNextBody(7));
  EXPECT_FALSE(reader.is_done());
  ASSERT_TRUE(reader.IsNextBody(6));
  reader.SkipBody(6);
  EXPECT_TRUE(reader.is_done());
  EXPECT_FALSE(reader.IsNextBody(1));
}

TEST(ResponseText, SkipsAChunkThatIsFramedAsText) {
  ResponseText reader;
  reader.BeginChunks();
  EXPECT_EQ(reader.Next("a\r\n").kind, Kind::kNeedMore);
  EXPECT_FALSE(reader.IsNextBody(11));
  ASSERT_TRUE(reader.IsNextBody(10));
  reader.SkipBody(10);
  EXPECT_FALSE(reader.is_done());
  std::string_view rest = "\r\n0\r\n\r\n";
  while (!rest.empty()) {
    const ResponseText::Step step = reader.Next(rest);
    ASSERT_NE(step.kind, Kind::kFailed);
    rest.remove_prefix(step.used);
  }
  EXPECT_TRUE(reader.is_done());
}

TEST(ResponseText, SkippingDoesNotEndABodyUpToTheEnd) {
  ResponseText reader;
  reader.BeginUntilEnd();
  reader.SkipBody(1000);
  EXPECT_TRUE(reader.IsNextBody(1000));
  EXPECT_FALSE(reader.is_done());
}

}  // namespace
}  // namespace httpsys::http2
