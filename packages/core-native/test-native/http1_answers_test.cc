// Requests that are refused: malformed, too large, too late, incomplete, or nobody's.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/fake_javascript.h"
#include "support/http1_messages.h"
#include "support/whole_prefixes.h"

namespace httpsys::test {
namespace {

constexpr std::string_view kBad = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";

TEST(Http1AnswersTest, AMalformedMessageIsAnsweredWithoutJavaScript) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send("BAD\r\n\r\n");
  EXPECT_EQ(peer.ReadAll(), kBad);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1AnswersTest, AServerThatWantsErrorsGetsWhatWasReadLast) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.wants_errors = true;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send("GET / HTTP/1.1\r\nBad Header: x\r\n\r\n");
  const Event error = js.Expect(RequestType::kError);
  EXPECT_EQ(error.number, static_cast<uint32_t>(ErrorKind::kMalformed));
  EXPECT_EQ(error.body, "GET / HTTP/1.1\r\nBad Header: x\r\n\r\n");
  js.Data(ReplyType::kData, error.slot, records::kReplyRaw, "bye");
  js.Command(ReplyType::kDestroy, error.slot);
  EXPECT_EQ(peer.ReadAll(), "bye");
  js.Expect(RequestType::kClosed);
}

TEST(Http1AnswersTest, AnErrorBehindAnUnansweredRequestIsJavaScriptsToAnswer) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  const std::string segment = std::string(kGet) + "BAD\r\n\r\n";
  peer.Send(segment);
  js.Expect(RequestType::kRequest);
  EXPECT_EQ(js.Expect(RequestType::kError).body, segment);
}

TEST(Http1AnswersTest, AMalformedChunkIsReportedWithWhatWasReadLast) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  const std::string message = Chunked("3\r\nabc\r\nxyz\r\n");
  peer.Send(message);
  EXPECT_EQ(js.Expect(RequestType::kRequest).body, "abc");
  const Event error = js.Expect(RequestType::kError);
  EXPECT_EQ(error.number, static_cast<uint32_t>(ErrorKind::kMalformed));
  EXPECT_EQ(error.body, message);
}

TEST(Http1AnswersTest, BytesAfterAClosingRequestAreAnError) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n\r\n");
  js.Expect(RequestType::kRequest);
  EXPECT_TRUE(js.IsQuiet(20));  // A line end alone is none.
  peer.Send(kGet);
  EXPECT_EQ(js.Expect(RequestType::kError).number,
            static_cast<uint32_t>(ErrorKind::kDataAfterClose));
}

TEST(Http1AnswersTest, WhatFollowsAToldRefusalIsToldToo) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.wants_errors = true;
  const Peer peer(js.Connect(settings));
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  peer.Send("*");
  EXPECT_EQ(js.Expect(RequestType::kError).body, "*");
  peer.Send(kGet);
  const Event error = js.Expect(RequestType::kError);
  EXPECT_EQ(error.number, static_cast<uint32_t>(ErrorKind::kMalformed));
  EXPECT_EQ(error.body, kGet);
  peer.Finish();
  js.Expect(RequestType::kEof);
  js.Command(ReplyType::kShutdown, slot);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1AnswersTest, AnEndWithinAMessageClosesAConnectionThatJavaScriptHasEnded) {
  for (const std::string_view message :
       {"GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"}) {
    FakeJavaScript js;
    ServerSettings settings;
    settings.wants_errors = true;
    const Peer peer(js.Connect(settings));
    const uint32_t slot = js.Expect(RequestType::kOpen).slot;
    peer.Send(message);
    if (message.front() == 'P') js.Expect(RequestType::kRequest);
    js.Command(ReplyType::kShutdown, slot);
    EXPECT_EQ(peer.ReadAll(), "");
    peer.Finish();
    const Event error = js.Expect(RequestType::kError);
    EXPECT_EQ(error.number, static_cast<uint32_t>(ErrorKind::kIncomplete));
    EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
  }
}

TEST(Http1AnswersTest, WhatFollowsATimeoutIsThrownAway) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.wants_errors = true;
  const Peer peer(js.Connect(settings));
  const uint32_t slot = js.Expect(RequestType::kOpen).slot;
  peer.Send("GET / HT");
  EXPECT_TRUE(js.IsQuiet(20));
  js.backend().CheckConnections(1, 10, 60'000);
  EXPECT_EQ(js.Expect(RequestType::kError).number, static_cast<uint32_t>(ErrorKind::kTimeout));
  peer.Send("TP/1.1\r\n\r\n");
  peer.Finish();
  js.Expect(RequestType::kEof);
  js.Command(ReplyType::kShutdown, slot);
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

TEST(Http1AnswersTest, AHeadOverTheLimitIsRefusedWith431) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.max_header_size = 200;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send("GET / HTTP/1.1\r\nX: " + std::string(300, 'x'));
  EXPECT_EQ(peer.ReadAll(),
            "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n");
  js.Expect(RequestType::kClosed);
}

TEST(Http1AnswersTest, ABodyOverTheLimitIsRefusedBeforeJavaScriptSeesItsRequest) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.max_request_body_size = 4;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send(Post(5, "12345"));
  // node:http has no such limit: the engine says who answers.
  const std::string answer = peer.ReadAll();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\nDate: ")) << answer;
  EXPECT_TRUE(answer.ends_with(" GMT\r\nServer: httpsys\r\nConnection: close\r\n\r\n")) << answer;
  js.Expect(RequestType::kClosed);
}

TEST(Http1AnswersTest, AChunkedBodyOverTheLimitIsReportedWhileItStreams) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.max_request_body_size = 4;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send(Chunked("3\r\nabc\r\n"));
  js.Expect(RequestType::kRequest);
  js.Expect(RequestType::kBody);
  peer.Send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(js.Expect(RequestType::kError).number, static_cast<uint32_t>(ErrorKind::kBodyTooLarge));
}

TEST(Http1AnswersTest, AnEndWithinAHeadIsABadRequest) {
  for (size_t length = 1; length < kGet.size(); ++length) {
    FakeJavaScript js;
    const Peer peer(js.Connect());
    js.Expect(RequestType::kOpen);
    peer.Send(kGet.substr(0, length));
    peer.Finish();
    EXPECT_EQ(peer.ReadAll(), kBad) << length;
    js.Expect(RequestType::kClosed);
  }
}

TEST(Http1AnswersTest, AnEndWithinABodyIsReportedAsIncomplete) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send(Post(10, "abc"));
  peer.Finish();
  EXPECT_EQ(js.Expect(RequestType::kRequest).body, "abc");
  EXPECT_EQ(js.Expect(RequestType::kError).number, static_cast<uint32_t>(ErrorKind::kIncomplete));
}

TEST(Http1AnswersTest, AMessageThatTakesTooLongIsRefusedWith408) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  peer.Send("GET / HT");
  js.backend().CheckConnections(1, 60'000, 60'000);
  EXPECT_TRUE(js.IsQuiet(20));
  js.backend().CheckConnections(1, 10, 60'000);
  EXPECT_EQ(peer.ReadAll(), "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
  js.Expect(RequestType::kClosed);
}

TEST(Http1AnswersTest, RequestsThatNoPrefixOwnsAreAnsweredInTheirTurn) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.prefixes = test::WholePrefixes({"http://shop.test:80/a/", "http://shop.test:80/b/"});
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send(
      "GET /b/1 HTTP/1.1\r\nHost: shop.test\r\n\r\n"
      "GET /c HTTP/1.1\r\nHost: shop.test\r\n\r\n"
      "HEAD /c HTTP/1.1\r\nHost: shop.test\r\n\r\n"
      "POST /a HTTP/1.1\r\nHost: other.test\r\nContent-Length: 3\r\n\r\nxyz"
      "GET /a/2 HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.prefix_id, 1u);
  EXPECT_TRUE(js.IsQuiet(20));
  EXPECT_TRUE(peer.IsQuiet(20));
  js.Answer(request.slot, "first");
  request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.target, "/a/2");
  EXPECT_EQ(request.prefix_id, 0u);
  js.Answer(request.slot, "last", records::kReplyClose);
  const std::string all = peer.ReadAll();
  const size_t first = all.find("first");
  const size_t not_found = all.find("404 Not Found");
  const size_t head = all.find("404 Not Found", not_found + 1);
  const size_t bad_host = all.find("400 Bad Request");
  const size_t last = all.find("last");
  EXPECT_LT(first, not_found);
  EXPECT_LT(not_found, head);
  EXPECT_LT(head, bad_host);
  EXPECT_LT(bad_host, last);
  EXPECT_NE(all.find("Bad Request - Invalid Hostname"), std::string::npos);
  // The answer to HEAD has no body: the next status line follows its blank line.
  EXPECT_EQ(all.substr(all.find("\r\n\r\n", head) + 4, 12), "HTTP/1.1 400");
}

TEST(Http1AnswersTest, AServerOfPrefixesRefusesARequestWithoutOneValidHost) {
  for (const std::string_view host :
       {"Host: u@shop.test\r\n", "Host: shop.test:80:x\r\n", "Host: other.test#@shop.test\r\n",
        "Host: shop.test\r\nHost: shop.test\r\n", ""}) {
    FakeJavaScript js;
    ServerSettings settings;
    settings.prefixes = test::WholePrefixes({"http://shop.test:80/", "http://*:80/"});
    const Peer peer(js.Connect(settings));
    js.Expect(RequestType::kOpen);
    peer.Send("GET /first HTTP/1.1\r\nHost: shop.test\r\n\r\nGET /odd HTTP/1.1\r\n" +
              std::string(host) + "\r\nGET /behind HTTP/1.1\r\nHost: shop.test\r\n\r\n");
    const Event request = js.Expect(RequestType::kRequest);
    EXPECT_EQ(request.target, "/first");
    js.Answer(request.slot, "first");
    const std::string all = peer.ReadAll();
    const size_t refused = all.find("HTTP/1.1 400 Bad Request");
    EXPECT_LT(all.find("first"), refused) << host;
    ASSERT_NE(refused, std::string::npos) << host;
    EXPECT_NE(all.find("Connection: close\r\n", refused), std::string::npos);
    EXPECT_TRUE(all.ends_with("Bad Request - Invalid Hostname</h1>\n")) << all;
    EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
  }
}

TEST(Http1AnswersTest, AUrlThatIsNotTakenIsAnsweredInItsTurnAndEndsTheConnection) {
  FakeJavaScript js;
  ServerSettings settings;
  settings.strict_url = true;
  const Peer peer(js.Connect(settings));
  js.Expect(RequestType::kOpen);
  peer.Send(
      "GET /%C0%A4 HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /% HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nxyz"
      "GET /behind HTTP/1.1\r\nHost: h\r\n\r\n");
  const Event request = js.Expect(RequestType::kRequest);
  EXPECT_EQ(request.target, "/%C0%A4");
  EXPECT_TRUE(js.IsQuiet(20));
  EXPECT_TRUE(peer.IsQuiet(20));
  js.Answer(request.slot, "first");
  const std::string all = peer.ReadAll();
  const size_t refused = all.find("HTTP/1.1 400 Bad Request");
  EXPECT_LT(all.find("first"), refused);
  ASSERT_NE(refused, std::string::npos);
  EXPECT_NE(all.find("Connection: close\r\n", refused), std::string::npos);
  EXPECT_TRUE(all.ends_with("Bad Request - Invalid URL</h1>\n")) << all;
  EXPECT_EQ(js.Expect(RequestType::kClosed).number, 0u);
}

}  // namespace
}  // namespace httpsys::test
