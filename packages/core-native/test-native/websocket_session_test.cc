// WebSockets through a whole engine over socket pairs: from frames to records and back.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "support/client_frames.h"
#include "support/fake_javascript.h"

namespace httpsys::test {
namespace {

constexpr std::string_view kUpgrade =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
constexpr uint32_t kText = 1 | records::kFrameFin;
constexpr uint32_t kClose = 8 | records::kFrameFin;

struct Settings {
  uint32_t flags = records::kSocketAutoPong;
  uint32_t payload_max = 0;
  uint32_t pongs_max = 0;
  uint32_t threshold = 0;
};

struct Socket {
  Peer peer;
  uint32_t slot;
};

class WebSocketSessionTest : public testing::Test {
 protected:
  // Up to kUpgradeAccept, which leaves open what the bytes are.
  Socket Upgrade(std::string_view behind = {}) {
    Peer peer(js_.Connect());
    const uint32_t slot = js_.Expect(RequestType::kOpen).slot;
    peer.Send(std::string(kUpgrade).append(behind));
    const Event request = js_.Expect(RequestType::kRequest);
    EXPECT_EQ(request.flags & records::kFlagUpgrade, records::kFlagUpgrade);
    EXPECT_EQ(request.body, behind);
    js_.Command(ReplyType::kUpgradeAccept, slot, records::kReplyUndecided);
    return {std::move(peer), slot};
  }

  void Open(const Socket& socket, const Settings& settings = {}, std::string_view head = {}) {
    const auto bytes = static_cast<uint32_t>(head.size());
    js_.Record(ReplyType::kWebSocket, socket.slot, 0,
               {settings.flags, settings.payload_max, 0, 0, settings.pongs_max, settings.threshold,
                15 | 15 << 8 | 6 << 16 | 8u << 24, 0, bytes, 0},
               head);
  }

  Socket OpenOne(const Settings& settings = {}) {
    Socket socket = Upgrade();
    Open(socket, settings);
    return socket;
  }

  void Send(const Socket& socket, uint32_t flags, std::string_view bytes) {
    js_.Record(ReplyType::kFrame, socket.slot, flags, {static_cast<uint32_t>(bytes.size()), 0},
               bytes);
  }

  void Broadcast(uint32_t flags, std::string_view bytes, const std::vector<uint32_t>& slots) {
    std::string rest(bytes);
    rest.resize((rest.size() + 3) & ~size_t{3});
    for (const uint32_t slot : slots) {
      rest.append(reinterpret_cast<const char*>(&slot), sizeof slot);
    }
    js_.Record(ReplyType::kBroadcast, 0, flags,
               {static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(slots.size())}, rest);
  }

  FakeJavaScript js_;
};

TEST_F(WebSocketSessionTest, MessagesComeWholeHoweverTheyAreCut) {
  const Socket socket = OpenOne();
  const std::string bytes = ClientFrame(kFin | 1, "hello") + ClientFrame(2, "ab") +
                            ClientFrame(kFin | 9, "ping") + ClientFrame(kFin, "cd");
  for (const char byte : bytes) socket.peer.Send({&byte, 1});
  Event event = js_.Expect(RequestType::kMessage);
  EXPECT_EQ(event.body, "hello");
  EXPECT_EQ(event.flags, 0u);
  event = js_.Expect(RequestType::kControl);
  EXPECT_EQ(event.body, "ping");
  EXPECT_EQ(event.number, 9u);
  event = js_.Expect(RequestType::kMessage);
  EXPECT_EQ(event.body, "abcd");
  EXPECT_EQ(event.flags, records::kMessageBinary);
  EXPECT_EQ(socket.peer.Read(6), "\x8a\x04ping");
}

TEST_F(WebSocketSessionTest, ALargeMessageComesInABlock) {
  const Socket socket = OpenOne();
  std::string payload(3'000'000, 'x');
  for (size_t i = 0; i < payload.size(); i += 1000) payload[i] = static_cast<char>(i / 1000);
  socket.peer.Send(ClientFrame(kFin | 2, payload));
  EXPECT_TRUE(js_.Expect(RequestType::kMessage).body == payload);
  socket.peer.Send(ClientFrame(kFin | 1, "next"));
  EXPECT_TRUE(js_.IsQuiet());  // It has taken all of the window.
  js_.Command(ReplyType::kWindow, socket.slot, 0,
              static_cast<uint32_t>(payload.size()) + records::kMessageCost);
  EXPECT_EQ(js_.Expect(RequestType::kMessage).body, "next");
}

TEST_F(WebSocketSessionTest, BytesBehindTheRequestAndUndecidedOnesAreReadInTheirOrder) {
  const std::string first = ClientFrame(kFin | 1, "first");
  const std::string early = first + ClientFrame(kFin | 1, "second").substr(0, 3);
  const Socket socket = Upgrade(early);
  socket.peer.Send(ClientFrame(kFin | 1, "second").substr(3) + ClientFrame(kFin | 1, "third"));
  EXPECT_TRUE(js_.IsQuiet());
  Open(socket, {}, early);
  for (const char* text : {"first", "second", "third"}) {
    EXPECT_EQ(js_.Expect(RequestType::kMessage).body, text);
  }
}

TEST_F(WebSocketSessionTest, UndecidedBytesAreOpaqueWhenThatIsDecided) {
  const Socket socket = Upgrade("behind");
  socket.peer.Send("later");
  socket.peer.Finish();
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, records::kFlagUndecided);
  EXPECT_TRUE(js_.IsQuiet());
  js_.Command(ReplyType::kUpgradeAccept, socket.slot);
  EXPECT_EQ(js_.Expect(RequestType::kBody).body, "later");
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, 0u);
}

TEST_F(WebSocketSessionTest, AnEndBehindUndecidedBytesIsMetByAWebSocket) {
  const std::string first = ClientFrame(kFin | 1, "first");
  const Socket socket = Upgrade(first);
  socket.peer.Finish();
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, records::kFlagUndecided);
  Open(socket, {}, first);
  EXPECT_EQ(js_.Expect(RequestType::kMessage).body, "first");
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, 0u);
}

TEST_F(WebSocketSessionTest, ARefusedUpgradeWithBytesBehindItClosesWithItsPeer) {
  const Socket socket = Upgrade("b");
  js_.Command(ReplyType::kShutdown, socket.slot);
  EXPECT_EQ(socket.peer.ReadAll(), "");
  socket.peer.Finish();
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, records::kFlagUndecided);
  js_.Command(ReplyType::kUpgradeAccept, socket.slot);
  EXPECT_EQ(js_.Expect(RequestType::kEof).flags, 0u);
  EXPECT_EQ(js_.Expect(RequestType::kClosed).number, 0u);
}

TEST_F(WebSocketSessionTest, ARefusedUpgradeOfWhichNoMoreIsKeptIsClosed) {
  for (const bool is_refused_first : {true, false}) {
    const Socket socket = Upgrade();
    if (is_refused_first) js_.Command(ReplyType::kShutdown, socket.slot);
    size_t sent = 0;
    while (sent < 2 * limits::kUndecidedBytesMax) {
      sent += socket.peer.TrySend(std::string(16 * 1024, 'u'));
      if (sent < limits::kUndecidedBytesMax) js_.IsQuiet(1);
    }
    if (!is_refused_first) js_.Command(ReplyType::kShutdown, socket.slot);
    EXPECT_EQ(js_.Expect(RequestType::kClosed).number, 0u);
  }
}

TEST_F(WebSocketSessionTest, AnUndecidedEndIsToldAtOnce) {
  const Socket socket = Upgrade();
  socket.peer.Finish();
  js_.Expect(RequestType::kEof);
  Open(socket);
  Send(socket, kText, "still");
  EXPECT_EQ(socket.peer.Read(7), "\x81\x05still");
}

TEST_F(WebSocketSessionTest, OnlySoMuchIsKeptOfAnUndecidedUpgrade) {
  const Socket socket = Upgrade();
  const std::string piece(64 * 1024, 'u');
  size_t taken = 0;
  size_t step = 0;
  do {
    step = socket.peer.TrySend(piece);
    taken += step;
    js_.IsQuiet(20);
  } while (step != 0 && taken < 16 * limits::kUndecidedBytesMax);
  EXPECT_LT(taken, 16 * limits::kUndecidedBytesMax);
}

TEST_F(WebSocketSessionTest, AWindowOfSmallMessagesStopsTheirSender) {
  const Socket socket = OpenOne();
  const size_t most = static_cast<size_t>(limits::kReceiveWindowBytes) / records::kMessageCost;
  std::string bytes;
  for (size_t i = 0; i < most + 100; ++i) bytes += ClientFrame(kFin | 1, "");
  socket.peer.Send(bytes);
  for (size_t i = 0; i < most; ++i) js_.Expect(RequestType::kMessage);
  EXPECT_TRUE(js_.IsQuiet());
  js_.Command(ReplyType::kWindow, socket.slot, 0, 100 * records::kMessageCost);
  for (size_t i = 0; i < 100; ++i) js_.Expect(RequestType::kMessage);
}

TEST_F(WebSocketSessionTest, NothingIsToldBehindACloseFrameOrARefusal) {
  for (const bool closes : {true, false}) {
    const Socket socket = OpenOne();
    socket.peer.Send((closes ? ClientFrame(kFin | 8, "\x0f\xa0why") : ClientFrame(kFin | 3, "")) +
                     ClientFrame(kFin | 1, "lost"));
    const Event event = js_.Expect(closes ? RequestType::kCloseFrame : RequestType::kFrameError);
    EXPECT_EQ(event.number, closes ? 4000u : 3u);
    EXPECT_EQ(event.body, closes ? "why" : "");
    socket.peer.Send(std::string(100'000, 'x'));
    Send(socket, kClose, "\x0f\xa0");
    Send(socket, kText, "dropped");
    js_.Command(ReplyType::kShutdown, socket.slot);
    EXPECT_EQ(socket.peer.ReadAll(), "\x88\x02\x0f\xa0");
    socket.peer.Finish();
    js_.Expect(RequestType::kEof);
    js_.Expect(RequestType::kClosed);
    js_.Command(ReplyType::kRelease, socket.slot);
  }
}

TEST_F(WebSocketSessionTest, NoPingIsAnsweredBehindACloseFrame) {
  const Socket socket = OpenOne();
  Send(socket, kClose, "");
  EXPECT_EQ(socket.peer.Read(2), std::string("\x88\0", 2));
  socket.peer.Send(ClientFrame(kFin | 9, "late"));
  js_.Expect(RequestType::kControl);
  EXPECT_TRUE(socket.peer.IsQuiet());
}

TEST_F(WebSocketSessionTest, WhoReadsNoPongsIsCutOff) {
  const Socket socket = OpenOne({records::kSocketAutoPong, 0, 10, 0});
  const std::string ping = ClientFrame(kFin | 9, std::string(125, 'p'));
  for (;;) {
    const std::optional<Event> event = js_.Next(0);
    if (event.has_value() && event->type == RequestType::kClosed) break;
    if (event.has_value()) {
      js_.Command(ReplyType::kWindow, socket.slot, 0, 125 + records::kMessageCost);
    } else {
      socket.peer.TrySend(ping);
    }
  }
}

TEST_F(WebSocketSessionTest, FramesCarryTheirLengthInTheShortestForm) {
  const Socket socket = OpenOne();
  Send(socket, 2, "a");
  Send(socket, records::kFrameFin, std::string(126, 'b'));
  Send(socket, kText, std::string(60'000, 'c'));
  const std::string expected = std::string("\x02\x01") + "a" + std::string("\x80\x7e\0\x7e", 4) +
                               std::string(126, 'b') + std::string("\x81\x7e\xea\x60", 4) +
                               std::string(60'000, 'c');
  EXPECT_TRUE(socket.peer.Read(expected.size()) == expected);
}

TEST_F(WebSocketSessionTest, ABroadcastStandsAmongTheOtherFramesOfItsSockets) {
  std::vector<Socket> sockets;
  std::vector<uint32_t> slots;
  for (int i = 0; i < 5; ++i) {
    sockets.push_back(OpenOne());
    slots.push_back(sockets.back().slot);
  }
  slots.push_back(slots[1]);  // Twice to one.
  slots.push_back(77);        // Nobody's.
  Send(sockets[2], kText, "before");
  Broadcast(kText, "all", slots);
  Send(sockets[2], kText, "after");
  EXPECT_EQ(sockets[0].peer.Read(5),
            "\x81\x03"
            "all");
  EXPECT_EQ(sockets[1].peer.Read(10),
            "\x81\x03"
            "all"
            "\x81\x03"
            "all");
  EXPECT_EQ(sockets[2].peer.Read(20),
            "\x81\x06"
            "before"
            "\x81\x03"
            "all"
            "\x81\x05"
            "after");
  for (const int i : {3, 4}) EXPECT_EQ(sockets[i].peer.Read(5).size(), 5u);
  for (const Socket& socket : sockets) EXPECT_TRUE(socket.peer.IsQuiet(5));
}

TEST_F(WebSocketSessionTest, ABroadcastThatIsNotReadIsKeptOnceAndCredited) {
  std::vector<Socket> sockets;
  std::vector<uint32_t> slots;
  for (int i = 0; i < 3; ++i) {
    sockets.push_back(OpenOne());
    slots.push_back(sockets.back().slot);
  }
  const std::string payload(60'000, 'q');
  constexpr int kTimes = 30;
  for (int i = 0; i < kTimes; ++i) Broadcast(2 | records::kFrameFin, payload, slots);
  sockets[1].peer.Close();
  const std::string frame = std::string("\x82\x7e\xea\x60", 4) + payload;
  for (const int i : {0, 2}) {
    for (int j = 0; j < kTimes; ++j) EXPECT_TRUE(sockets[i].peer.Read(frame.size()) == frame);
  }
  uint64_t credit = 0;
  while (const std::optional<Event> event = js_.Next(50)) {
    if (event->type == RequestType::kCredit && event->slot != slots[1]) credit += event->number;
  }
  EXPECT_GE(credit, 2 * (kTimes * payload.size() - limits::kCreditBytes));
  EXPECT_LE(credit, 2 * kTimes * payload.size());
}

TEST_F(WebSocketSessionTest, ABlockIsGivenBackWhenAllHaveSentIt) {
  const Socket one = OpenOne();
  const Socket other = OpenOne();
  const std::string payload(500'000, 'b');
  const uint32_t id =
      js_.backend().lent(0).Lend(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
  std::string slots;
  for (const uint32_t slot : {one.slot, other.slot}) {
    slots.append(reinterpret_cast<const char*>(&slot), sizeof slot);
  }
  js_.Record(ReplyType::kBroadcastBlock, 0, 2 | records::kFrameFin, {id, 2}, slots);
  const size_t bytes = payload.size() + 10;
  EXPECT_EQ(one.peer.Read(bytes).size(), bytes);
  EXPECT_TRUE(js_.Next(20)->type == RequestType::kCredit);
  EXPECT_EQ(other.peer.Read(bytes).size(), bytes);
  for (;;) {
    const std::optional<Event> event = js_.Next();
    ASSERT_TRUE(event.has_value());
    if (event->type != RequestType::kBlockDone) continue;
    EXPECT_EQ(event->number, id);
    break;
  }
}

TEST_F(WebSocketSessionTest, CompressedMessagesComeBackAsTheyWere) {
  const uint32_t alone = records::kSocketServerAlone | records::kSocketClientAlone;
  std::vector<Socket> sockets;  // Until the end, for quiet.
  for (const uint32_t flags : {records::kSocketDeflate + 0u, records::kSocketDeflate | alone}) {
    sockets.push_back(OpenOne({flags, 0, 0, 10}));
    const Socket& socket = sockets.back();
    const std::string payload = "compressible, compressible, compressible";
    for (int i = 0; i < 3; ++i) {
      Send(socket, kText | records::kFrameCompress, payload);
      std::string head = socket.peer.Read(2);
      ASSERT_EQ(head.size(), 2u);
      EXPECT_EQ(head[0], static_cast<char>(kFin | kRsv1 | 1));
      const auto bytes = static_cast<size_t>(head[1]);
      EXPECT_LT(bytes, payload.size());
      socket.peer.Send(ClientFrame(kFin | kRsv1 | 1, socket.peer.Read(bytes)));
      EXPECT_EQ(js_.Expect(RequestType::kMessage).body, payload);
    }
    Send(socket, kText | records::kFrameCompress, "short");
    const char first = socket.peer.Read(1)[0];
    EXPECT_EQ(first, static_cast<char>((flags & alone) != 0 ? kFin | 1 : kFin | kRsv1 | 1));
  }
}

// It may be written behind the record that makes the WebSocket.
TEST_F(WebSocketSessionTest, TheEndOfAnEarlierAnswerDoesNotEndIt) {
  const Socket socket = OpenOne();
  socket.peer.Finish();
  js_.Expect(RequestType::kEof);
  js_.Command(ReplyType::kEnd, socket.slot, records::kReplyEnd);
  Send(socket, kText, "still");
  EXPECT_EQ(socket.peer.Read(7), "\x81\x05still");
}

TEST_F(WebSocketSessionTest, AnEndWithinAMessageIsAnEnd) {
  const Socket socket = OpenOne();
  socket.peer.Send(ClientFrame(1, "half"));
  socket.peer.Finish();
  js_.Expect(RequestType::kEof);
  js_.Command(ReplyType::kShutdown, socket.slot);
  EXPECT_EQ(js_.Expect(RequestType::kClosed).number, 0u);
}

}  // namespace
}  // namespace httpsys::test
