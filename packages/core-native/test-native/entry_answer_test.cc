#include "engine/cache/entry_answer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::kNowS;
using cache::kNowText;
using cache::TestRequest;

constexpr std::string_view kBody = "0123456789";
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: \"one\"\r\n"
    "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 10\r\n";

// The answer of kHead and kBody, or of another entry, to a request with these lines.
class Answered {
 public:
  explicit Answered(std::string_view lines, UsedEntry entry = Entry(), bool is_head = false)
      : request_(lines, is_head ? "HEAD" : "GET") {
    answer_.Make(entry, {&request_.head(), is_head, false}, kNowS);
    for (const std::string_view piece : answer_.pieces()) body_.append(piece);
  }
  Answered(const Answered&) = delete;
  Answered& operator=(const Answered&) = delete;

  static UsedEntry Entry() {
    UsedEntry entry;
    entry.head = kHead;
    entry.body = kBody;
    entry.age_s = 7;
    return entry;
  }
  int status() const { return answer_.status(); }
  std::string_view head() const { return answer_.head(); }
  const std::string& body() const { return body_; }
  bool Has(std::string_view line) const {
    return head().find(std::string("\r\n").append(line).append("\r\n")) != std::string_view::npos;
  }

 private:
  TestRequest request_;
  EntryAnswer answer_;
  std::string body_;
};

TEST(EntryAnswerTest, GivesTheEntryAndItsAge) {
  const Answered answered("");
  EXPECT_EQ(answered.status(), 200);
  EXPECT_EQ(answered.head(), std::string(kHead).append("Age: 7\r\n\r\n"));
  EXPECT_EQ(answered.body(), kBody);
}

TEST(EntryAnswerTest, RenewsTheDateWhereThereIsNoAge) {
  UsedEntry entry = Answered::Entry();
  entry.age_s = std::nullopt;
  entry.cache_status = "httpsys; hit";
  const Answered answered("", entry);
  EXPECT_TRUE(answered.Has(std::string("Date: ").append(kNowText)));
  EXPECT_TRUE(answered.Has("Cache-Status: httpsys; hit"));
  EXPECT_FALSE(answered.Has("Age: 7"));
}

TEST(EntryAnswerTest, GivesHeadTheSameFieldsAndNoBody) {
  const Answered answered("", Answered::Entry(), true);
  EXPECT_TRUE(answered.Has("Content-Length: 10"));
  EXPECT_EQ(answered.body(), "");
}

TEST(EntryAnswerTest, AnswersConditionsByIfNoneMatchFirst) {
  const Answered same("If-None-Match: \"zero\", W/\"one\"");
  EXPECT_EQ(same.status(), 304);
  EXPECT_TRUE(same.Has("ETag: \"one\""));
  EXPECT_FALSE(same.Has("Content-Type: text/plain"));
  EXPECT_EQ(same.body(), "");
  EXPECT_EQ(Answered("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT").status(), 304);
  EXPECT_EQ(
      Answered("If-None-Match: \"two\"|If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT").status(),
      200);
  // Lines of one field are one list.
  EXPECT_EQ(Answered("If-None-Match: \"two\"|If-None-Match: \"one\"").status(), 304);
  // Not for caches (RFC 9111, section 4.3.2).
  EXPECT_EQ(Answered("If-Match: \"two\"").status(), 200);
}

TEST(EntryAnswerTest, GivesOneRangeSeveralAndNone) {
  const Answered one("Range: bytes=2-4");
  EXPECT_EQ(one.status(), 206);
  EXPECT_TRUE(one.Has("Content-Range: bytes 2-4/10"));
  EXPECT_TRUE(one.Has("Content-Length: 3"));
  EXPECT_TRUE(one.Has("Content-Type: text/plain"));
  EXPECT_FALSE(one.Has("Content-Length: 10"));
  EXPECT_EQ(one.body(), "234");
  const Answered none("Range: bytes=10-");
  EXPECT_EQ(none.status(), 416);
  EXPECT_TRUE(none.Has("Content-Range: bytes */10"));
  EXPECT_FALSE(none.Has("Age: 7"));
  EXPECT_EQ(none.body(), "");
}

TEST(EntryAnswerTest, PutsSeveralRangesIntoParts) {
  const std::string body(1000, 'x');
  UsedEntry entry = Answered::Entry();
  entry.body = body;
  const Answered answered("Range: bytes=0-1,500-509", entry);
  EXPECT_EQ(answered.status(), 206);
  EXPECT_FALSE(answered.Has("Content-Type: text/plain"));
  EXPECT_NE(answered.head().find("Content-Type: multipart/byteranges; boundary="),
            std::string_view::npos);
  EXPECT_TRUE(answered.Has("Content-Length: " + std::to_string(answered.body().size())));
  EXPECT_NE(answered.body().find("Content-Range: bytes 500-509/1000\r\n"), std::string::npos);
}

TEST(EntryAnswerTest, IgnoresRangesOfAnotherVersionAndOfOtherStatuses) {
  EXPECT_EQ(Answered("Range: bytes=0-1|If-Range: \"two\"").body(), kBody);
  EXPECT_EQ(Answered("Range: bytes=0-1|If-Range: \"one\"").body(), "01");
  UsedEntry entry = Answered::Entry();
  entry.status = 404;
  EXPECT_EQ(Answered("Range: bytes=0-1", entry).status(), 404);
  EXPECT_EQ(Answered("If-None-Match: *", entry).status(), 404);
}

TEST(EntryAnswerTest, SaysThatNothingStoredWillDo) {
  const TestRequest request("Cache-Control: only-if-cached");
  EntryAnswer answer;
  answer.MakeUnsatisfied({&request.head(), false, true}, "httpsys", kNowS);
  EXPECT_EQ(answer.status(), 504);
  EXPECT_EQ(answer.head(),
            "HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\nCache-Status: httpsys\r\n\r\n");
  EXPECT_TRUE(answer.is_own_error()) << "the date is added where the answer is given";
  EXPECT_TRUE(answer.pieces().empty());
}

}  // namespace
}  // namespace httpsys::engine
