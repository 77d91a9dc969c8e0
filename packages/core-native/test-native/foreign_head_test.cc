// Heads of responses that another process has stored: whether they may stand on a connection.

#include <gtest/gtest.h>

#include <string>

#include "engine/shared_cache/foreign_answers.h"

namespace httpsys::engine {
namespace {

TEST(ForeignHeadTest, AHeadThatALaneHasStoredIsSound) {
  EXPECT_TRUE(
      IsSoundHead("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n", 200, 5));
  EXPECT_TRUE(IsSoundHead("HTTP/1.1 404\r\ncontent-length:0\r\n", 404, 0));
  EXPECT_TRUE(IsSoundHead("HTTP/1.1 204 No Content\r\nETag: \"\xe4\t \"\r\n", 204, 0));
  EXPECT_TRUE(IsSoundHead("HTTP/1.1 599 \r\nContent-Length: 1\r\n", 599, 1));
}

TEST(ForeignHeadTest, TheLengthIsThatOfTheBodyAndIsThereOnce) {
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\n", 200, 0));
  EXPECT_FALSE(
      IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: +4\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: \r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551620\r\n", 200, 4));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 204 No Content\r\n", 204, 1));
}

TEST(ForeignHeadTest, NothingEndsTheHeadBeforeItsEndOrFramesTheBodyOtherwise) {
  const std::string length = "Content-Length: 1\r\n";
  const std::string start = "HTTP/1.1 200 OK\r\n";
  EXPECT_TRUE(IsSoundHead(start + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + length + "\r\n", 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "A: b\nC: d\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "A: b\rC: d\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + std::string("A: \0\r\n", 6) + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "A : b\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + ": b\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + " folded\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "no field\r\n" + length, 200, 1));
  EXPECT_FALSE(IsSoundHead(start + "Content-Length: 1", 200, 1));
  EXPECT_FALSE(IsSoundHead(start + length + "Transfer-Encoding: chunked\r\n", 200, 1));
  EXPECT_FALSE(IsSoundHead(start + length + "Connection: close\r\n", 200, 1));
}

TEST(ForeignHeadTest, TheStatusIsThatOfTheEntryAndFinal) {
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 201 OK\r\nContent-Length: 0\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n", 100, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 2000\r\nContent-Length: 0\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 65736\r\nContent-Length: 0\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("", 200, 0));
  EXPECT_FALSE(IsSoundHead("\r\n", 200, 0));
  EXPECT_FALSE(IsSoundHead("HTTP/1.1 \r\n", 200, 0));
}

}  // namespace
}  // namespace httpsys::engine
