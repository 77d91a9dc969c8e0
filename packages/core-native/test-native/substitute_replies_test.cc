#include "engine/cache/substitute_replies.h"

#include <gtest/gtest.h>

#include <string>

#include "base/block_store.h"

namespace httpsys::engine {
namespace {

constexpr std::string_view kFinal = "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n";
constexpr std::string_view kHints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";

TEST(SubstituteRepliesTest, TheFinalHeadIsFoundBehindThoseOf1xx) {
  const std::string text = std::string(kHints).append(kHints).append(kFinal).append("body\r\n\r\n");
  const FoundHead found = FindHead(text);
  EXPECT_EQ(found.head, kFinal);
  EXPECT_EQ(text.substr(found.end), "body\r\n\r\n");
  EXPECT_FALSE(found.is_interim);
  EXPECT_EQ(FindHead(kFinal).head, kFinal);
  const std::string interim = std::string(kHints).append(kHints);
  EXPECT_TRUE(FindHead(interim).is_interim);
  EXPECT_EQ(FindHead(interim).head, "");
}

TEST(SubstituteRepliesTest, NothingElseIsTakenForAHead) {
  for (const std::string_view text :
       {"", "body", "HTTP/1.1 200 OK\r\nA: 1\r\n", "HTTP/1.1 20", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 099 No\r\n\r\n", "HTTP/2 200\r\n\r\n", "x HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"}) {
    const FoundHead found = FindHead(text);
    EXPECT_EQ(found.head, "") << text;
    EXPECT_FALSE(found.is_interim) << text;
  }
}

TEST(SubstituteRepliesTest, FieldsStandAtTheEndOfTheHead) {
  SubstituteReplies substitutes;
  const std::string all = std::string(kFinal).append("body");
  const std::string_view view = all;
  const ReplyRecord response = ReplyRecord::Response(
      7, records::kReplyEnd, {view.substr(0, kFinal.size()), view.substr(kFinal.size()), 9});
  const ReplyRecord first = substitutes.WithFields(response, kFinal.size(), "B: 2\r\n");
  EXPECT_EQ(first.response().head, "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n");
  EXPECT_EQ(first.response().body, "body");
  EXPECT_EQ(first.response().idle_timeout_ms, 9u);
  EXPECT_TRUE(first.has(records::kReplyEnd));

  const std::string text = std::string(kHints).append(all);
  const ReplyRecord data = ReplyRecord::Data(7, records::kReplyRaw, {text, 9});
  const ReplyRecord second = substitutes.WithFields(data, FindHead(text).end, "B: 2\r\n");
  EXPECT_EQ(second.type(), records::ReplyType::kData);
  EXPECT_EQ(second.bytes().bytes,
            std::string(kHints).append("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\nbody"));
  EXPECT_TRUE(second.has(records::kReplyRaw));

  const ReplyRecord third = substitutes.HeadOfBlock(response, kFinal, "B: 2\r\n");
  EXPECT_EQ(third.bytes().bytes, "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n");
  EXPECT_FALSE(third.has(records::kReplyEnd));
}

TEST(SubstituteRepliesTest, TheHeadOfABlockIsSkipped) {
  LentMemory lent;
  const std::string text = std::string(kFinal).append("body");
  const uint32_t id = lent.Lend(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  lent.Skip(id, kFinal.size());
  LentMemory::View view;
  ASSERT_TRUE(lent.Find(id, &view));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(view.data), view.bytes), "body");
  lent.Skip(id + 1, 1);
  lent.Return(id);
  EXPECT_FALSE(lent.Find(id, &view));
}

}  // namespace
}  // namespace httpsys::engine
