// From reply records to bytes, through a whole engine over socket pairs.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/limits.h"
#include "support/fake_javascript.h"

namespace httpsys::test {
namespace {

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

// A connection with one request that waits for its answer.
class ReplyProcessorTest : public testing::Test {
 protected:
  ReplyProcessorTest() : peer_(js_.Connect()) {
    js_.Expect(RequestType::kOpen);
    peer_.Send(kGet);
    slot_ = js_.Expect(RequestType::kRequest).slot;
  }

  FakeJavaScript js_;
  Peer peer_;
  uint32_t slot_ = 0;
};

TEST_F(ReplyProcessorTest, PiecesAreFramedAsChunksAndTheLastOneEndsTheBody) {
  js_.Respond(slot_, records::kReplyChunked, "H\r\n\r\n", "first");
  js_.Data(ReplyType::kData, slot_, records::kReplyChunked, "");
  js_.Data(ReplyType::kData, slot_, records::kReplyChunked, std::string(300, 'x'));
  js_.Data(ReplyType::kData, slot_, records::kReplyChunked | records::kReplyEnd, "z");
  const std::string expected =
      "H\r\n\r\n5\r\nfirst\r\n12c\r\n" + std::string(300, 'x') + "\r\n1\r\nz\r\n0\r\n\r\n";
  EXPECT_EQ(peer_.Read(expected.size()), expected);
  EXPECT_TRUE(peer_.IsQuiet());
}

TEST_F(ReplyProcessorTest, TrailersEndAChunkedBody) {
  js_.Respond(slot_, records::kReplyChunked, "H\r\n\r\n", "b");
  js_.Data(ReplyType::kTrailers, slot_, records::kReplyChunked, "A: 1\r\nB: 2\r\n");
  const std::string expected = "H\r\n\r\n1\r\nb\r\n0\r\nA: 1\r\nB: 2\r\n\r\n";
  EXPECT_EQ(peer_.Read(expected.size()), expected);
  EXPECT_TRUE(peer_.IsQuiet());
}

TEST_F(ReplyProcessorTest, AnEmptyChunkedBodyIsItsLastChunk) {
  js_.Respond(slot_, records::kReplyChunked | records::kReplyEnd, "H\r\n\r\n", "");
  EXPECT_EQ(peer_.Read(10), "H\r\n\r\n0\r\n\r\n");
}

TEST_F(ReplyProcessorTest, InterimHeadsDoNotAnswerTheRequest) {
  js_.Respond(slot_, records::kReplyInterim, "HTTP/1.1 100 Continue\r\n\r\n", "");
  js_.Answer(slot_, "x", records::kReplyClose);
  EXPECT_EQ(peer_.ReadAll(),
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
}

TEST_F(ReplyProcessorTest, AClosingAnswerIsFollowedByTheEndOfTheConnection) {
  js_.Answer(slot_, "bye", records::kReplyClose);
  EXPECT_NE(peer_.ReadAll().find("bye"), std::string::npos);
  EXPECT_EQ(js_.Expect(RequestType::kClosed).number, 0u);
}

TEST_F(ReplyProcessorTest, AClosingAnswerSurvivesALateUpload) {
  js_.Answer(slot_, "bye", records::kReplyClose);
  js_.Expect(RequestType::kClosed);
  for (int i = 0; i < 10; ++i) peer_.Send(std::string(10'000, 'u'));
  EXPECT_NE(peer_.ReadAll().find("bye"), std::string::npos);
}

TEST_F(ReplyProcessorTest, CreditsCountTheBytesThatJavaScriptGave) {
  // One byte a chunk: on the wire six times as much as JavaScript counts.
  constexpr size_t kPieces = 3 * limits::kCreditBytes;
  js_.Respond(slot_, records::kReplyChunked, "H\r\n\r\n", "");
  size_t unread = 5;
  for (size_t i = 0; i < kPieces; ++i) {
    js_.Data(ReplyType::kData, slot_, records::kReplyChunked, "x");
    unread += 6;
    if (i % 1000 == 0) unread -= peer_.Read(unread).size();
  }
  EXPECT_EQ(peer_.Read(unread).size(), unread);
  EXPECT_TRUE(js_.backend().Drain(5000, DrainGoal::kSent));
  size_t credited = 0;
  while (const auto event = js_.Next(50)) {
    if (event->type == RequestType::kCredit) credited += event->number;
  }
  EXPECT_LE(credited, kPieces + 5);
  EXPECT_GT(credited + limits::kCreditBytes, kPieces);
}

TEST_F(ReplyProcessorTest, ASlowReaderGetsEverythingInOrder) {
  std::string expected = "H\r\n\r\n";
  js_.Respond(slot_, 0, "H\r\n\r\n", "");
  for (int i = 0; i < 200; ++i) {
    const std::string piece(7000, static_cast<char>('a' + i % 26));
    js_.Data(ReplyType::kData, slot_, 0, piece);
    expected += piece;
  }
  js_.Data(ReplyType::kData, slot_, records::kReplyEnd | records::kReplyClose, "end");
  expected += "end";
  EXPECT_FALSE(js_.backend().Drain(20, DrainGoal::kSent));
  EXPECT_TRUE(peer_.ReadAll() == expected);
  EXPECT_TRUE(js_.backend().Drain(5000, DrainGoal::kSent));
}

// JavaScript would wait for credit long before.
TEST_F(ReplyProcessorTest, RepliesBeyondTheCreditEndTheirConnectionOnly) {
  const Peer other(js_.ConnectAgain());
  js_.Expect(RequestType::kOpen);
  other.Send(kGet);
  const uint32_t other_slot = js_.Expect(RequestType::kRequest).slot;
  js_.Respond(slot_, 0, "H\r\n\r\n", "");
  const std::string piece(60'000, 'x');
  // Far more than may be kept, and than the two sockets hold.
  for (size_t sent = 0; sent < 4 * limits::kUnsentRepliesMax; sent += piece.size()) {
    js_.Data(ReplyType::kData, slot_, 0, piece);
  }
  std::optional<Event> event = js_.Next();
  while (event && event->type == RequestType::kCredit) event = js_.Next();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(static_cast<int>(event->type), static_cast<int>(RequestType::kClosed));
  EXPECT_EQ(event->slot, slot_);
  EXPECT_EQ(event->number, static_cast<uint32_t>(ENOBUFS));
  js_.Answer(other_slot, "x");
  EXPECT_NE(other.Read(39).find("200 OK"), std::string::npos);
}

TEST_F(ReplyProcessorTest, ABlockIsSentByReferenceAndReportedWhenItHasLeft) {
  std::string bytes(2'000'000, 'b');
  bytes.front() = '<';
  bytes.back() = '>';
  LentMemory& lent = js_.backend().lent(0);
  const uint32_t id = lent.Lend(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  js_.Respond(slot_, 0, "H\r\n\r\n", "");
  js_.Command(ReplyType::kBlock, slot_, 0, id);
  js_.Command(ReplyType::kEnd, slot_, records::kReplyClose);
  LentMemory::View view;
  EXPECT_TRUE(lent.Find(id, &view));
  EXPECT_TRUE(peer_.ReadAll() == "H\r\n\r\n" + bytes);
  size_t credited = 0;
  for (;;) {
    const auto event = js_.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type == RequestType::kCredit) credited += event->number;
    if (event->type == RequestType::kBlockDone) {
      EXPECT_EQ(event->number, id);
      break;
    }
  }
  js_.Expect(RequestType::kClosed);
  EXPECT_GT(credited, bytes.size() - limits::kCreditBytes);
  EXPECT_LE(credited, bytes.size() + 5);
  EXPECT_FALSE(lent.Find(id, &view));
}

TEST_F(ReplyProcessorTest, BlocksOfAConnectionThatGoesAwayAreReturned) {
  const std::string bytes(4'000'000, 'b');
  LentMemory& lent = js_.backend().lent(0);
  const auto lend = [&] {
    return lent.Lend(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  };
  js_.Command(ReplyType::kBlock, slot_, 0, lend());
  EXPECT_FALSE(js_.backend().Drain(20, DrainGoal::kSent));  // It is stuck half-way.
  js_.Command(ReplyType::kBlock, slot_, records::kReplyChunked, lend());
  js_.Command(ReplyType::kDestroy, slot_);
  js_.Command(ReplyType::kBlock, slot_, 0, lend());
  int done = 0;
  bool is_closed = false;
  while (done < 3 || !is_closed) {
    const auto event = js_.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type == RequestType::kBlockDone) ++done;
    if (event->type == RequestType::kClosed) is_closed = true;
  }
  LentMemory::View view;
  for (uint32_t id = 0; id < 3; ++id) EXPECT_FALSE(lent.Find(id, &view));
}

TEST_F(ReplyProcessorTest, ASlotIsUsedAgainOnlyAfterBothSidesAreDoneWithIt) {
  js_.Command(ReplyType::kDestroy, slot_);
  EXPECT_EQ(js_.Expect(RequestType::kClosed).slot, slot_);
  js_.Answer(slot_, "too late");  // For nobody.
  const Peer second(js_.ConnectAgain());
  EXPECT_NE(js_.Expect(RequestType::kOpen).slot, slot_);
  js_.Command(ReplyType::kRelease, slot_);
  EXPECT_TRUE(js_.backend().Drain(5000, DrainGoal::kSent));
  const Peer third(js_.ConnectAgain());
  EXPECT_EQ(js_.Expect(RequestType::kOpen).slot, slot_);
  EXPECT_TRUE(third.IsQuiet(20));
}

TEST_F(ReplyProcessorTest, ShutdownEndsOneDirectionUntilThePeerEndsTheOther) {
  js_.Answer(slot_, "x");
  js_.Command(ReplyType::kShutdown, slot_);
  EXPECT_NE(peer_.ReadAll().find("200 OK"), std::string::npos);
  EXPECT_TRUE(js_.IsQuiet());
  peer_.Finish();
  EXPECT_EQ(js_.Expect(RequestType::kClosed).number, 0u);
}

TEST_F(ReplyProcessorTest, DestroySendsWhatWasWrittenBefore) {
  js_.Data(ReplyType::kData, slot_, records::kReplyRaw, "last words");
  js_.Command(ReplyType::kDestroy, slot_);
  EXPECT_EQ(peer_.ReadAll(), "last words");
  js_.Expect(RequestType::kClosed);
}

TEST_F(ReplyProcessorTest, DestroyIfIdleSparesABusyConnection) {
  js_.Command(ReplyType::kDestroy, slot_, records::kReplyIfIdle);
  EXPECT_TRUE(js_.IsQuiet(20));
  js_.Answer(slot_, "done");
  js_.Command(ReplyType::kDestroy, slot_, records::kReplyIfIdle);
  EXPECT_NE(peer_.ReadAll().find("done"), std::string::npos);
  js_.Expect(RequestType::kClosed);
}

TEST_F(ReplyProcessorTest, DestroyIfIdleSparesARequestThatCameBefore) {
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    js_.Answer(slot_, "x");
    EXPECT_FALSE(peer_.Read(1).empty());
    peer_.Send(kGet);
    js_.Command(ReplyType::kDestroy, slot_, records::kReplyIfIdle);
    js_.Expect(RequestType::kRequest);
  }
}

TEST(ReplyProcessorConnectionTest, DestroyIfUnservedSparesABegunRequest) {
  constexpr uint32_t kIfUnserved = records::kReplyIfIdle | records::kReplyIfUnserved;
  FakeJavaScript js;
  const Peer begun(js.Connect());
  const uint32_t begun_slot = js.Expect(RequestType::kOpen).slot;
  begun.Send("GET / HT");
  EXPECT_TRUE(js.IsQuiet(20));
  js.Command(ReplyType::kDestroy, begun_slot, kIfUnserved);
  begun.Send("TP/1.1\r\nHost: a\r\n\r\n");
  js.Expect(RequestType::kRequest);

  const Peer silent(js.Connect());
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  js.Command(ReplyType::kDestroy, slot, records::kReplyIfIdle);
  EXPECT_TRUE(js.IsQuiet(20));
  js.Command(ReplyType::kDestroy, slot, kIfUnserved);
  EXPECT_EQ(js.Expect(RequestType::kClosed).slot, slot);
}

TEST_F(ReplyProcessorTest, AnIdleConnectionIsClosedAfterItsTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  js_.Answer(slot_, "x", 0, 100);
  js_.Expect(RequestType::kClosed);
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, std::chrono::milliseconds(90));
  EXPECT_NE(peer_.ReadAll().find("200 OK"), std::string::npos);
}

TEST_F(ReplyProcessorTest, ABeginningRequestStopsTheIdleTimeout) {
  js_.Answer(slot_, "x", 0, 100);
  peer_.Send("GET ");
  EXPECT_TRUE(js_.IsQuiet(250));
  peer_.Send("/2 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(js_.Expect(RequestType::kRequest).target, "/2");
  EXPECT_TRUE(js_.IsQuiet(250));
}

TEST_F(ReplyProcessorTest, TheIdleTimeoutMayBeSetBetweenRequests) {
  js_.Answer(slot_, "x");
  js_.Command(ReplyType::kIdleTimeout, slot_, 0, 30);
  js_.Expect(RequestType::kClosed);
}

TEST_F(ReplyProcessorTest, AReplyWrittenWhileJavaScriptIsBusyLeavesWithoutAWake) {
  js_.backend().signal().BeginDrain();
  // The lane falls asleep not knowing that JavaScript goes on.
  EXPECT_TRUE(js_.backend().Drain(5000, DrainGoal::kSent));
  js_.set_wakes(false);
  js_.Answer(slot_, "x");
  EXPECT_NE(peer_.Read(39).find("200 OK"), std::string::npos);
  js_.backend().signal().EndDrain();
}

TEST_F(ReplyProcessorTest, AWriteErrorClosesTheConnectionWithItsErrno) {
  const std::string bytes(4'000'000, 'b');
  const uint32_t id =
      js_.backend().lent(0).Lend(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  js_.Command(ReplyType::kBlock, slot_, 0, id);
  EXPECT_FALSE(js_.backend().Drain(20, DrainGoal::kSent));
  peer_.Close();
  for (;;) {
    const auto event = js_.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type != RequestType::kClosed) continue;
    EXPECT_TRUE(event->number == EPIPE || event->number == ECONNRESET) << event->number;
    break;
  }
}

TEST_F(ReplyProcessorTest, ManyRepliesCrossSegmentsUnharmed) {
  for (int i = 0; i < 2000; ++i) {
    js_.Answer(slot_, std::to_string(i));
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(std::to_string(i).size()) +
        "\r\n\r\n";
    const std::string expected = head + std::to_string(i);
    ASSERT_EQ(peer_.Read(expected.size()), expected);
    peer_.Send(kGet);
    auto event = js_.Next();
    if (event.has_value() && event->type == RequestType::kCredit) event = js_.Next();
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(static_cast<int>(event->type), static_cast<int>(RequestType::kRequest));
  }
}

}  // namespace
}  // namespace httpsys::test
