// From bytes to request records, through a whole engine over socket pairs.

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/limits.h"
#include "support/fake_javascript.h"
#include "support/http1_messages.h"

namespace httpsys::test {
namespace {

// The pieces of a body, together, up to kBodyEnd.
std::string ReadBody(FakeJavaScript& js, Event* end = nullptr) {
  std::string body;
  for (;;) {
    const auto event = js.Next();
    if (!event.has_value()) return body + "[timeout]";
    if (event->type == RequestType::kBodyEnd) {
      if (end != nullptr) *end = *event;
      return body;
    }
    EXPECT_EQ(static_cast<int>(event->type), static_cast<int>(RequestType::kBody));
    body += event->body;
    js.Command(ReplyType::kWindow, event->slot, 0, event->number);
  }
}

TEST(Http1SessionTest, ARequestBecomesARecordAndItsAnswerComesBack) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  const Event open = js.Expect(RequestType::kOpen);
  peer.Send("GET /a?b HTTP/1.1\r\nHost: h\r\nX-Y:  z \r\n\r\n");
  const Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.slot, open.slot);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b");
  EXPECT_EQ(request.minor, 1);
  const std::vector<std::pair<std::string, std::string>> lines = {{"Host", "h"}, {"X-Y", "z"}};
  EXPECT_EQ(request.lines, lines);
  EXPECT_EQ(request.flags,
            records::kFlagComplete | records::kFlagKeepAlive | records::kFlagHasHost);
  js.Answer(request.slot, "hi");
  const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  EXPECT_EQ(peer.Read(answer.size()), answer);
}

TEST(Http1SessionTest, RepeatedLinesArriveTheSameThroughTheirIds) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  for (int i = 0; i < 5; ++i) {
    peer.Send("GET /same HTTP/1.1\r\nHost: h\r\nCookie: secret\r\nX-N: " + std::to_string(i) +
              "\r\n\r\n");
    const Event request = js.Expect(RequestType::kRequest);
    EXPECT_EQ(request.target, "/same");
    const std::vector<std::pair<std::string, std::string>> lines = {
        {"Host", "h"}, {"Cookie", "secret"}, {"X-N", std::to_string(i)}};
    EXPECT_EQ(request.lines, lines);
    js.Answer(request.slot, "");
  }
}

TEST(Http1SessionTest, AMessageMayBeSplitAtEveryByte) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  const std::string message = Chunked("3\r\nabc\r\n2;e=1\r\nde\r\n0\r\nT: v\r\n\r\n");
  for (size_t split = 1; split < message.size(); ++split) {
    peer.Send(std::string_view(message).substr(0, split));
    // The lane has read the first part when this command, which asks for nothing, was handled.
    js.Command(ReplyType::kWindow, slot, 0, 0);
    EXPECT_TRUE(js.backend().Drain(5000, DrainGoal::kSent));
    peer.Send(std::string_view(message).substr(split));
    const Event request = js.Expect(RequestType::kRequest);
    EXPECT_EQ(request.target, "/c");
    Event end;
    EXPECT_EQ(request.body + ReadBody(js, &end), "abcde") << "split at " << split;
    ASSERT_EQ(end.lines.size(), 1u);
    EXPECT_EQ(end.lines[0].second, "v");
    js.Answer(slot, "");
    EXPECT_NE(peer.Read(38).find("200 OK"), std::string::npos);
  }
}

TEST(Http1SessionTest, ASmallWholeBodyTravelsInsideItsRequest) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(Post(5, "hello") + Chunked("5\r\nworld\r\n0\r\n\r\n"));
  Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE((request.flags & records::kFlagComplete) != 0);
  EXPECT_TRUE((request.flags & records::kFlagHasBody) != 0);
  request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.body, "world");
  EXPECT_TRUE((request.flags & records::kFlagComplete) != 0);
  EXPECT_TRUE((request.flags & records::kFlagChunked) != 0);
}

TEST(Http1SessionTest, TheFirstPieceOfALongerBodyTravelsInsideItsRequestToo) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(Chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") + Post(5, "fgh"));
  Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.body, "abc");
  EXPECT_TRUE((request.flags & records::kFlagComplete) == 0);
  EXPECT_EQ(js.Expect(RequestType::kBody).body, "de");
  js.Expect(RequestType::kBodyEnd);
  request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.body, "fgh");
  EXPECT_TRUE((request.flags & records::kFlagComplete) == 0);
  peer.Send("ij");
  EXPECT_EQ(js.Expect(RequestType::kBody).body, "ij");
  js.Expect(RequestType::kBodyEnd);
}

TEST(Http1SessionTest, ABodyStopsAtTheWindowUntilItIsConsumed) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  const size_t length = 1024 * 1024;
  std::string body;
  for (size_t i = 0; i < length; ++i) body.push_back(static_cast<char>('a' + i % 23));
  const std::string message = Post(length, body);
  size_t sent = peer.TrySend(message);
  const Event request = js.Expect(RequestType::kRequest);
  const uint32_t slot = request.slot;
  std::string got = request.body;
  const size_t window = got.size() + limits::kReceiveWindowBytes;
  while (got.size() < window) {
    const Event piece = js.Expect(RequestType::kBody);
    got += piece.body;
    sent += peer.TrySend(std::string_view(message).substr(sent));
  }
  EXPECT_EQ(got.size(), window);
  EXPECT_TRUE(js.IsQuiet());
  while (got.size() < length) {
    js.Command(ReplyType::kWindow, slot, 0, 32 * 1024);
    sent += peer.TrySend(std::string_view(message).substr(sent));
    if (const auto piece = js.Next(5); piece.has_value()) got += piece->body;
  }
  EXPECT_TRUE(got == body);
  js.Expect(RequestType::kBodyEnd);
}

TEST(Http1SessionTest, NoMoreThanTheAgreedNumberOfRequestsWaitsForAnswers) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.pipelined_requests_max = 2;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  std::string many;
  for (int i = 0; i < 6; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  peer.Send(many);
  const uint32_t slot = js.Expect(RequestType::kRequest).slot;
  EXPECT_EQ(js.Expect(RequestType::kRequest).target, "/1");
  EXPECT_TRUE(js.IsQuiet());
  for (int i = 2; i < 6; ++i) {
    js.Answer(slot, "");
    EXPECT_EQ(js.Expect(RequestType::kRequest).target, "/" + std::to_string(i));
    EXPECT_TRUE(js.IsQuiet(5));
  }
}

TEST(Http1SessionTest, LineEndsBehindTheLastPipelinedRequestDoNotStopTheIdleTime) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.pipelined_requests_max = 2;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send(std::string(kGet) + std::string(kGet) + "\r\n");
  const uint32_t slot = js.Expect(RequestType::kRequest).slot;
  js.Expect(RequestType::kRequest);
  // Both answers in one pass, before the line end is looked at again.
  js.set_wakes(false);
  js.Answer(slot, "", 0, 50);
  js.set_wakes(true);
  js.Answer(slot, "", 0, 50);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1SessionTest, AnIdleConnectionThatThePeerEndsIsClosedQuietly) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(kGet);
  js.Answer(js.Expect(RequestType::kRequest).slot, "hi");
  EXPECT_EQ(peer.Read(15), "HTTP/1.1 200 OK");
  peer.Send("\r\n");
  peer.Finish();
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1SessionTest, JavaScriptEndsAConnectionThatThePeerHasEndedWithoutARequest) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  peer.Send("\r\n");
  peer.Finish();
  js.Expect(RequestType::kEof);
  EXPECT_TRUE(js.IsQuiet());
  js.Command(ReplyType::kShutdown, slot);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
  EXPECT_EQ(peer.ReadAll(), "");
}

TEST(Http1SessionTest, AnEndWhileARequestWaitsIsToldAndTheAnswerStillLeaves) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(kGet);
  peer.Finish();
  const uint32_t slot = js.Expect(RequestType::kRequest).slot;
  js.Expect(RequestType::kEof);
  js.Answer(slot, "late");
  js.Command(ReplyType::kShutdown, slot);
  EXPECT_NE(peer.ReadAll().find("late"), std::string::npos);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1SessionTest, AnAcceptedUpgradeCarriesEverythingAfterItsHeadOnce) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhead");
  const Event request = js.Expect(RequestType::kRequest);
  EXPECT_TRUE((request.flags & records::kFlagUpgrade) != 0);
  EXPECT_EQ(request.body, "head");
  peer.Send("more");
  EXPECT_TRUE(js.IsQuiet());  // Nothing is read until JavaScript has decided.
  js.Command(ReplyType::kUpgradeAccept, request.slot);
  EXPECT_EQ(js.Expect(RequestType::kBody).body, "more");
  js.Data(ReplyType::kData, request.slot, records::kReplyRaw, "opaque");
  EXPECT_EQ(peer.Read(6), "opaque");
  peer.Finish();
  js.Expect(RequestType::kEof);
  js.Command(ReplyType::kShutdown, request.slot);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1SessionTest, ADeclinedUpgradeIsAnOrdinaryRequestWithItsBody) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(
      "POST /u HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n"
      "\r\nabc" +
      std::string(kGet));
  const Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.body, "abc" + std::string(kGet));
  js.Command(ReplyType::kUpgradeDecline, request.slot);
  EXPECT_EQ(ReadBody(js), "abc");
  EXPECT_EQ(js.Expect(RequestType::kRequest).target, "/x");
}

TEST(Http1SessionTest, ARequestThatWasReadWholeIsNoLongerTimed) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(kGet);
  const uint32_t slot = js.Expect(RequestType::kRequest).slot;
  EXPECT_TRUE(js.IsQuiet(20));
  js.backend().CheckConnections(1, 1, 1);
  js.Answer(slot, "ok");
  EXPECT_NE(peer.Read(38).find("200 OK"), std::string::npos);
  js.backend().CheckConnections(1, 1, 1);
  EXPECT_TRUE(js.IsQuiet(20));
}

TEST(Http1SessionTest, ARecordLargerThanASegmentComesInABlock) {
  FakeJavaScript js({.segment_bytes = 2048});
  ServerSettings settings;
  settings.max_header_size = 64 * 1024;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  const std::string value(10'000, 'v');
  peer.Send("GET / HTTP/1.1\r\nHost: a\r\nX: " + value + "\r\n\r\n");
  const Event request = js.Expect(RequestType::kRequest);
  ASSERT_EQ(request.lines.size(), 2u);
  EXPECT_EQ(request.lines[1].second, value);
}

TEST(Http1SessionTest, LargePiecesAreReceivedIntoLentBlocksWhileThereAreAny) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  js.LendBlock(7);
  const std::string first(40'000, 'a');
  peer.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n");
  js.Expect(RequestType::kRequest);
  std::string body;
  int lent = 0;
  int own = 0;
  const auto receive = [&](size_t until) {
    while (body.size() < until) {
      const Event piece = js.Expect(RequestType::kBody);
      ASSERT_FALSE(piece.body.empty());
      const bool is_large = piece.body.size() > limits::kInlinePieceBytesMax;
      if ((piece.flags & records::kFlagLent) != 0) {
        EXPECT_TRUE(is_large);
        ++lent;
      } else if (is_large) {
        ++own;
      }
      body += piece.body;
    }
  };
  peer.Send(first);
  receive(first.size());
  const std::string second(40'000, 'b');
  peer.Send(second);
  receive(80'000);
  js.Expect(RequestType::kBodyEnd);
  EXPECT_TRUE(body == first + second);
  EXPECT_EQ(lent, 1);
  EXPECT_GE(own, 1);
}

TEST(Http1SessionTest, WithoutFreeSegmentsALaneWaitsAndLosesNothing) {
  FakeJavaScript js({.segments = 2, .segment_bytes = 1024});
  std::vector<Peer> peers;
  peers.emplace_back(js.Connect());
  constexpr int kPeers = 20;
  constexpr int kRequests = 16;
  for (int i = 1; i < kPeers; ++i) peers.emplace_back(js.ConnectAgain());
  std::string many;
  for (int i = 0; i < kRequests; ++i)
    many +=
        "GET /" + std::string(60, 'x') + "?" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const Peer& peer : peers) peer.Send(many);
  // Nobody reads for a while: the lane fills its segments and stops.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  int requests = 0;
  while (requests < kPeers * kRequests) {
    const auto event = js.Next();
    ASSERT_TRUE(event.has_value()) << "after " << requests;
    if (event->type == RequestType::kRequest) ++requests;
  }
  EXPECT_TRUE(js.IsQuiet(20));
}

TEST(Http1SessionTest, AServerOfAPortTakesWhateverHostARequestHas) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  for (const std::string_view host : {"Host: u@a\r\n", "Host: a\r\nHost: b\r\n", ""}) {
    peer.Send("GET /x HTTP/1.1\r\n" + std::string(host) + "\r\n");
    const Event request = js.Expect(RequestType::kRequest);
    EXPECT_EQ(request.target, "/x") << host;
    js.Answer(request.slot, "taken");
  }
}

TEST(Http1SessionTest, AResetWhileReadingIsReportedWithItsErrno) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(kGet);
  const uint32_t slot = js.Expect(RequestType::kRequest).slot;
  // The peer leaves unread data behind.
  js.Data(ReplyType::kData, slot, records::kReplyRaw, "unread");
  EXPECT_TRUE(js.backend().Drain(5000, DrainGoal::kSent));
  const_cast<Peer&>(peer).Close();
  const Event closed = js.Expect(RequestType::kClosed);
  EXPECT_EQ(closed.number, static_cast<uint32_t>(ECONNRESET));
}

}  // namespace
}  // namespace httpsys::test
