#include "engine/cache/stored_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace httpsys::engine {
namespace {

using http1::HeaderLine;

constexpr std::string_view kStatusLine = "HTTP/1.1 200 OK";

std::string Stored(const std::vector<HeaderLine>& lines, bool renews_date = false) {
  std::string head;
  AppendStoredHead(kStatusLine, lines, renews_date, &head);
  return head;
}

std::string Updated(std::string_view stored, const std::vector<HeaderLine>& lines) {
  std::string head;
  AppendUpdatedHead(stored, lines, &head);
  return head;
}

TEST(StoredHeadTest, LeavesOutWhatConcernsTheConnection) {
  EXPECT_EQ(Stored({{"X", "1"},
                    {"Connection", "close, x-hop"},
                    {"Keep-Alive", "timeout=5"},
                    {"X-Hop", "2"},
                    {"Transfer-Encoding", "chunked"},
                    {"TRAILER", "a"},
                    {"Proxy-Authenticate", "Basic"},
                    {"ETag", "\"a\""}}),
            "HTTP/1.1 200 OK\r\nX: 1\r\nETag: \"a\"\r\n");
}

TEST(StoredHeadTest, LeavesOutWhatIsWrittenAnew) {
  const std::vector<HeaderLine> lines = {{"Date", "d"}, {"Age", "9"}};
  EXPECT_EQ(Stored(lines), "HTTP/1.1 200 OK\r\nDate: d\r\n");
  EXPECT_EQ(Stored(lines, true), "HTTP/1.1 200 OK\r\nAge: 9\r\n");
}

TEST(StoredHeadTest, ReplacesAllLinesOfAFieldThatAnUpdateHas) {
  EXPECT_EQ(Updated("HTTP/1.1 200 OK\r\nX: 1\r\nx: 2\r\nKept: 3\r\nContent-Length: 4\r\n",
                    {{"X", "5"},
                     {"New", "6"},
                     {"Content-Length", "0"},
                     {"Age", "7"},
                     {"Content-Encoding", "br"},
                     {"Connection", "Hop"},
                     {"hop", "8"}}),
            "HTTP/1.1 200 OK\r\nKept: 3\r\nContent-Length: 4\r\nX: 5\r\nNew: 6\r\n");
}

TEST(StoredHeadTest, FindsTheValueOfAField) {
  constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nA: 1\r\nB:2\r\na: 3\r\n";
  EXPECT_EQ(HeadValue(kHead, "a"), "1");
  EXPECT_EQ(HeadValue(kHead, "b"), "2");
  EXPECT_EQ(HeadValue(kHead, "c"), "");
  // The status line is no field.
  EXPECT_EQ(HeadValue("HTTP/1.1 200 x: y\r\n", "http/1.1 200 x"), "");
}

}  // namespace
}  // namespace httpsys::engine
