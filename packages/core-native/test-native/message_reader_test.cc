#include "websocket/message_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/client_frames.h"
#include "support/event_log.h"
#include "support/guard_page.h"

namespace httpsys::websocket {
namespace {

using std::operator""sv;
using test::ClientFrame;
using test::ClientHeader;
using test::EventLog;
using test::kFin;

constexpr uint8_t kText = 1;
constexpr uint8_t kBinary = 2;
constexpr uint8_t kClose = 8;
constexpr uint8_t kPing = 9;
constexpr uint8_t kPong = 10;

class MessageReaderTest : public testing::Test {
 protected:
  // Feeds the bytes in pieces that end at `cuts`.
  std::string Read(std::string_view bytes, const std::vector<size_t>& cuts, bool stops = false) {
    MessageReader reader(options_);
    EventLog log;
    log.stops = stops;
    size_t begin = 0;
    for (const size_t cut : cuts) {
      std::string_view piece = bytes.substr(begin, cut - begin);
      begin = cut;
      do {
        const std::string_view placed = page_.Place(piece);
        const size_t used = reader.Read(const_cast<char*>(placed.data()), placed.size(), &log);
        EXPECT_LE(used, piece.size());
        EXPECT_TRUE(stops || used == piece.size());
        piece.remove_prefix(used);
      } while (!piece.empty());
    }
    return log.text;
  }

  // Receives into the reader's own memory whenever it gives some.
  std::string ReadInPlace(std::string_view bytes) {
    MessageReader reader(options_);
    EventLog log;
    while (!bytes.empty()) {
      const std::span<char> room = reader.Room(1);
      const size_t size = room.empty() ? 1 : std::min(room.size(), bytes.size());
      if (room.empty()) {
        char byte = bytes[0];
        reader.Read(&byte, 1, &log);
      } else {
        std::copy_n(bytes.begin(), size, room.begin());
        reader.ReadInPlace(size, &log);
      }
      bytes.remove_prefix(size);
    }
    return log.text;
  }

  std::string ReadWhole(std::string_view bytes) { return Read(bytes, {bytes.size()}); }

  void ExpectHoweverCut(std::string_view bytes, std::string_view events) {
    SCOPED_TRACE(testing::PrintToString(events));
    EXPECT_EQ(ReadWhole(bytes), events);
    EXPECT_EQ(Read(bytes, {bytes.size()}, true), events) << "stopped after each event";
    EXPECT_EQ(ReadInPlace(bytes), events) << "in place";
    std::vector<size_t> every_byte;
    for (size_t i = 1; i <= bytes.size(); i++) every_byte.push_back(i);
    EXPECT_EQ(Read(bytes, every_byte), events);
    for (size_t i = 0; i <= bytes.size(); i++) {
      EXPECT_EQ(Read(bytes, {i, bytes.size()}), events) << "cut at " << i;
    }
  }

  // The last byte is the one that makes it wrong.
  void ExpectRefused(std::string_view bytes, const std::string& code) {
    ExpectHoweverCut(bytes, code + "|");
    EXPECT_EQ(ReadWhole(bytes.substr(0, bytes.size() - 1)), "") << code;
  }

  test::GuardPage page_{1 << 20};
  ReaderOptions options_;
};

TEST_F(MessageReaderTest, MessagesOfOneFrameAreReadHoweverTheyAreCut) {
  ExpectHoweverCut(ClientFrame(kFin | kText, "Hello") + ClientFrame(kFin | kBinary, "\xff\x00"sv) +
                       ClientFrame(kFin | kText, "") + ClientFrame(kFin | kBinary, "") +
                       ClientFrame(kFin | kText, "κόσμε"),
                   "text Hello|binary \xff\x00|text |binary |text κόσμε|"sv);
}

TEST_F(MessageReaderTest, EveryWayToWriteALengthIsUnderstood) {
  for (const size_t size : {125, 126, 127, 128, 300}) {
    const std::string payload(size, 'a');
    const std::string frame = ClientFrame(kFin | kBinary, payload);
    ExpectHoweverCut(frame + ClientFrame(kFin | kPing, ""), "binary " + payload + "|ping |");
  }
  // Longer than necessary, as `ws` allows it.
  std::string masked = ClientFrame(kFin | kText, "abc").substr(6);
  ExpectHoweverCut(
      ClientHeader(kFin | kText, 3, 2) + masked + ClientHeader(kFin | kText, 3, 8) + masked,
      "text abc|text abc|");
  for (const size_t size : {65535, 65536, 200'000}) {
    const std::string payload(size, 'a');
    const std::string frame = ClientFrame(kFin | kBinary, payload);
    EXPECT_EQ(ReadWhole(frame), "binary " + payload + "|");
    EXPECT_EQ(Read(frame, {9, 100, size / 2, frame.size()}), "binary " + payload + "|");
    EXPECT_EQ(ReadInPlace(frame), "binary " + payload + "|");
  }
}

TEST_F(MessageReaderTest, FragmentsBecomeOneMessageWithControlFramesBetweenThem) {
  ExpectHoweverCut(ClientFrame(kText, "Hel") + ClientFrame(kFin | kPing, "p") + ClientFrame(0, "") +
                       ClientFrame(0, "lo ") + ClientFrame(kFin | kPong, "") +
                       ClientFrame(kFin, "you") + ClientFrame(kFin | kBinary, "x"),
                   "ping p|pong |text Hello you|binary x|");
  ExpectHoweverCut(ClientFrame(kText, "") + ClientFrame(0, "") + ClientFrame(kFin, ""), "text |");
  ExpectHoweverCut(ClientFrame(kBinary, "") + ClientFrame(kFin, "x"), "binary x|");
  ExpectHoweverCut(ClientFrame(kBinary, "x") + ClientFrame(kFin, ""), "binary x|");
  // A character may be spread over fragments.
  ExpectHoweverCut(ClientFrame(kText, "\xe2") + ClientFrame(kFin | kPing, "\xff") +
                       ClientFrame(0, "\x82") + ClientFrame(kFin, "\xac"),
                   "ping \xff|text \xe2\x82\xac|");
}

TEST_F(MessageReaderTest, ACloseFrameIsTheLastThatIsRead) {
  const std::string rest = ClientFrame(kFin | kText, "no") + "\xff\xff\xff";
  ExpectHoweverCut(ClientFrame(kFin | kClose, "") + rest, "close 1005 |");
  ExpectHoweverCut(ClientFrame(kFin | kClose, "\x03\xe8") + rest, "close 1000 |");
  ExpectHoweverCut(ClientFrame(kFin | kClose, "\x13\x87κ") + rest, "close 4999 κ|");
  const std::string reason(123, 'x');
  ExpectHoweverCut(ClientFrame(kText, "half") + ClientFrame(kFin | kClose, "\x03\xe9" + reason),
                   "close 1001 " + reason + "|");
}

TEST_F(MessageReaderTest, CloseFramesThatNobodyMaySendAreRefused) {
  for (const auto code : {"\x00\x00"sv, "\x03\xe7"sv, "\x03\xec"sv, "\x03\xed"sv, "\x03\xee"sv,
                          "\x03\xf7"sv, "\x0b\xb7"sv, "\x13\x88"sv, "\xff\xff"sv}) {
    ExpectRefused(ClientFrame(kFin | kClose, code), "WS_ERR_INVALID_CLOSE_CODE 1002");
    ExpectRefused(ClientFrame(kFin | kClose, std::string(code) + "\xff"),
                  "WS_ERR_INVALID_CLOSE_CODE 1002");
  }
  ExpectRefused(ClientFrame(kFin | kClose, "\x03\xe8\xff"), "WS_ERR_INVALID_UTF8 1007");
  ExpectRefused(ClientFrame(kFin | kClose, "\x03\xe8\xe2\x82"), "WS_ERR_INVALID_UTF8 1007");
  ExpectRefused("\x88\x81", "WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH 1002");
}

struct Row {
  std::string_view bytes;
  const char* code;
};

// Where two rules are broken, the verdict is that of the rule `ws` looks at first.
const Row kRefused[] = {
    {"\x91\x80"sv, "WS_ERR_UNEXPECTED_RSV_2_3 1002"},
    {"\xa1\x80"sv, "WS_ERR_UNEXPECTED_RSV_2_3 1002"},
    {"\xff\x00"sv, "WS_ERR_UNEXPECTED_RSV_2_3 1002"},
    {"\xc1\x80"sv, "WS_ERR_UNEXPECTED_RSV_1 1002"},
    {"\xc3\x00"sv, "WS_ERR_UNEXPECTED_RSV_1 1002"},
    {"\x80\x80"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x00\x00"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x83\x80"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x07\x00"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x8b\x80"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x0f\xff"sv, "WS_ERR_INVALID_OPCODE 1002"},
    {"\x09\x00"sv, "WS_ERR_EXPECTED_FIN 1002"},
    {"\x08\x81"sv, "WS_ERR_EXPECTED_FIN 1002"},
    {"\x89\xfe"sv, "WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH 1002"},
    {"\x8a\x7f"sv, "WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH 1002"},
    {"\x88\x01"sv, "WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH 1002"},
    {"\x81\x00"sv, "WS_ERR_EXPECTED_MASK 1002"},
    {"\x01\x7f"sv, "WS_ERR_EXPECTED_MASK 1002"},
    {"\x89\x00"sv, "WS_ERR_EXPECTED_MASK 1002"},
    {"\x82\xff\x00\x20\x00\x00\x00\x00\x00\x00"sv, "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH 1009"},
    {"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv, "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH 1009"},
};

TEST_F(MessageReaderTest, WhatBreaksARuleIsRefusedAtTheByteThatBreaksIt) {
  for (const Row& row : kRefused) ExpectRefused(row.bytes, row.code);
  // And nothing is read after it.
  ExpectHoweverCut("\x83\x80" + ClientFrame(kFin | kText, "no"), "WS_ERR_INVALID_OPCODE 1002|");
}

TEST_F(MessageReaderTest, AMessageMayNotBeginWithinAnother) {
  ExpectHoweverCut(ClientFrame(kText, "a") + "\x81\x80", "WS_ERR_INVALID_OPCODE 1002|");
  ExpectHoweverCut(ClientFrame(kText, "") + "\x02\x80", "WS_ERR_INVALID_OPCODE 1002|");
  ExpectHoweverCut(ClientFrame(kText, "a") + ClientFrame(kFin, "b") + "\x80\x80",
                   "text ab|WS_ERR_INVALID_OPCODE 1002|");
}

TEST_F(MessageReaderTest, AFailureNamesTheNumberInWsMessage) {
  const struct {
    std::string bytes;
    uint32_t detail;
  } kRows[] = {{"\x83\x80", 3},   {"\x8f\x80", 15}, {{"\x80\x80", 2}, 0},
               {"\x89\xfe", 126}, {"\x88\x81", 1},  {ClientFrame(kFin | kClose, "\x03\xed"), 1005}};
  for (const auto& row : kRows) {
    MessageReader reader(options_);
    EventLog log;
    std::string bytes = row.bytes;
    reader.Read(bytes.data(), bytes.size(), &log);
    EXPECT_TRUE(reader.has_ended());
    EXPECT_EQ(log.last_failure.detail, row.detail) << log.text;
  }
}

TEST_F(MessageReaderTest, ATextThatIsNotUtf8IsRefusedAtItsEnd) {
  ExpectRefused(ClientFrame(kFin | kText, "\xff"), "WS_ERR_INVALID_UTF8 1007");
  ExpectRefused(ClientFrame(kFin | kText, "a\xff z"), "WS_ERR_INVALID_UTF8 1007");
  ExpectRefused(ClientFrame(kFin | kText, "\xe2\x82"), "WS_ERR_INVALID_UTF8 1007");
  ExpectRefused(ClientFrame(kText, "\xff") + ClientFrame(kFin, "abc"), "WS_ERR_INVALID_UTF8 1007");
  ExpectHoweverCut(ClientFrame(kText, "\xff") + ClientFrame(kFin | kPing, "") + "\x91\x80",
                   "ping |WS_ERR_UNEXPECTED_RSV_2_3 1002|");
  // One text does not spoil the next.
  ExpectHoweverCut(ClientFrame(kFin | kBinary, "\xff") + ClientFrame(kFin | kText, "a"),
                   "binary \xff|text a|");
}

TEST_F(MessageReaderTest, Utf8IsNotLookedAtWhenThatIsAsked) {
  options_.skips_utf8 = true;
  ExpectHoweverCut(ClientFrame(kFin | kText, "\xff") + ClientFrame(kFin | kClose, "\x03\xe8\xff"),
                   "text \xff|close 1000 \xff|");
}

TEST_F(MessageReaderTest, AMessageThatIsTooLongIsRefusedAtItsLength) {
  options_.max_payload = 200;
  const std::string whole(200, 'x');
  ExpectHoweverCut(ClientFrame(kFin | kText, whole) + ClientFrame(kFin | kText, whole),
                   "text " + whole + "|text " + whole + "|");
  ExpectRefused("\x82\xfe\x00\xc9"sv, "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009");
  ExpectRefused("\x02\xff\x00\x1f\xff\xff\xff\xff\xff\xff"sv,
                "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009");
  ExpectRefused(ClientFrame(kText, whole) + ClientFrame(0, "") + "\x80\x81",
                "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009");
  options_.max_payload = 3;
  ExpectRefused("\x82\x84", "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009");
  // Control frames have their own limit.
  ExpectHoweverCut(ClientFrame(kFin | kPing, "12345"), "ping 12345|");
}

TEST_F(MessageReaderTest, TooManyFragmentsAreRefusedWhenTheFirstTooMuchIsWhole) {
  options_.max_fragments = 2;
  ExpectHoweverCut(ClientFrame(kText, "a") + ClientFrame(kFin | kPing, "") +
                       ClientFrame(kFin, "b") + ClientFrame(kText, "c") + ClientFrame(kFin, "d"),
                   "ping |text ab|text cd|");
  ExpectRefused(ClientFrame(kText, "a") + ClientFrame(0, "") + ClientFrame(kFin, "b"),
                "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008");
}

TEST_F(MessageReaderTest, AFrameSpreadOverTooManyArrivalsIsRefused) {
  options_.max_buffered_chunks = 3;
  const std::string frame = ClientFrame(kFin | kText, "abcdefgh");
  // The header's parts are used as they are whole; only what waits is counted.
  EXPECT_EQ(Read(frame, {1, 2, 4, 5, 6, 7, 8, 14}), "text abcdefgh|");
  EXPECT_EQ(Read(frame, {6, 7, 8, 9, 14}), "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008|");
  EXPECT_EQ(Read(frame, {2, 3, 4, 5, 14}), "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008|");
  EXPECT_EQ(Read(frame, {7, 8, 9, 14}), "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008|");
  const std::string longer = ClientHeader(kFin | kText, 1, 2, "\0\0\0\0"sv) + "a";
  EXPECT_EQ(Read(longer, {2, 3, 4, 5, 6, 9}), "text a|");
  EXPECT_EQ(Read(frame + frame, {7, 8, 20, 21, 22, 28}), "text abcdefgh|text abcdefgh|");
}

TEST_F(MessageReaderTest, AMessageThatArrivedWholeIsNotCopied) {
  MessageReader reader(options_);
  EventLog log;
  std::string bytes = ClientFrame(kFin | kText, "abc") + ClientFrame(kFin | kBinary, "defg");
  EXPECT_EQ(reader.Read(bytes.data(), bytes.size(), &log), bytes.size());
  EXPECT_EQ(log.owned_messages, 0u);
  EXPECT_EQ(log.last_at, bytes.data() + bytes.size() - 4);
  EXPECT_TRUE(reader.is_between_messages());
}

TEST_F(MessageReaderTest, AMessageInPiecesMayBeTakenOver) {
  class Taker : public EventLog {
   public:
    bool OnMessage(const Message& message) override {
      EventLog::OnMessage(message);
      if (message.owned != nullptr) taken = std::move(*message.owned);
      return true;
    }
    ByteBuffer taken;
  };
  MessageReader reader(options_);
  Taker log;
  std::string bytes = ClientFrame(kFin | kText, "abcdef");
  reader.Read(bytes.data(), 8, &log);
  EXPECT_FALSE(reader.is_between_messages());
  reader.Read(bytes.data() + 8, bytes.size() - 8, &log);
  EXPECT_EQ(log.taken.view(), "abcdef");
  bytes = ClientFrame(kFin | kText, "ghi");
  reader.Read(bytes.data(), bytes.size(), &log);
  EXPECT_EQ(log.taken.view(), "abcdef");
  EXPECT_EQ(log.text, "text abcdef|text ghi|");
}

TEST_F(MessageReaderTest, MemoryGrowsWithWhatArrivedAndNotWithWhatWasAnnounced) {
  MessageReader reader(options_);
  EventLog log;
  std::string bytes = ClientHeader(kFin | kBinary, uint64_t{1} << 50, 8) + std::string(1000, 'x');
  reader.Read(bytes.data(), bytes.size(), &log);
  EXPECT_EQ(reader.Room(100).size(), 1000u);
  EXPECT_EQ(reader.Room(64 * 1024).size(), 64u * 1024);
  EXPECT_EQ(log.text, "");
}

TEST_F(MessageReaderTest, ALargeMessageInOneFrameIsReadIntoABlockOfThePool) {
  constexpr size_t kBytes = 100'000;
  BlockPool pool;
  EXPECT_EQ(pool.Take(kBytes).memory, nullptr);
  Block block;
  block.capacity = kBytes + 1000;
  block.memory.reset(static_cast<uint8_t*>(std::malloc(block.capacity)));
  const auto* memory = reinterpret_cast<const char*>(block.memory.get());
  pool.Put(std::move(block));
  MessageReader reader(options_, nullptr, &pool);
  EventLog log;
  const std::string text(kBytes, 'x');
  const std::string parts = ClientFrame(kBinary, text) + ClientFrame(kFin, text);
  std::string bytes = parts;
  reader.Read(bytes.data(), 1000, &log);
  EXPECT_EQ(reader.Room(1000).size(), 1000u) << "a fragment grows with what arrives";
  reader.Read(bytes.data() + 1000, bytes.size() - 1000, &log);
  bytes = ClientFrame(kFin | kBinary, text);
  reader.Read(bytes.data(), 1000, &log);
  std::span<char> room = reader.Room(1000);
  EXPECT_EQ(room.size(), bytes.size() - 1000);
  std::copy(bytes.begin() + 1000, bytes.end(), room.begin());
  EXPECT_TRUE(reader.ReadInPlace(room.size(), &log));
  EXPECT_EQ(log.last_at, memory);
  EXPECT_EQ(log.text, "binary " + text + text + "|binary " + text + "|");
}

TEST_F(MessageReaderTest, AnAssembledMessageHasNoMemoryToSpare) {
  class Measure : public EventLog {
   public:
    bool OnMessage(const Message& message) override {
      if (message.owned != nullptr) capacity = message.owned->capacity();
      return true;
    }
    size_t capacity = 0;
  };
  MessageReader reader(options_);
  Measure log;
  std::string bytes = ClientFrame(kFin | kBinary, std::string(1000, 'x'));
  reader.Read(bytes.data(), 708, &log);
  reader.Read(bytes.data() + 708, 100, &log);
  reader.Read(bytes.data() + 808, 200, &log);
  EXPECT_EQ(log.capacity, 1000u);
}

TEST_F(MessageReaderTest, ThereIsRoomOnlyForThePayloadThatIsMissing) {
  MessageReader reader(options_);
  EventLog log;
  EXPECT_TRUE(reader.Room(1).empty());
  std::string bytes = ClientFrame(kText, "abcdef");
  reader.Read(bytes.data(), 5, &log);
  EXPECT_TRUE(reader.Room(1).empty());
  reader.Read(bytes.data() + 5, 1, &log);
  EXPECT_TRUE(reader.Room(7).empty());
  EXPECT_EQ(reader.Room(1).size(), 1u);
  EXPECT_EQ(reader.Room(6).size(), 6u);
  reader.Read(bytes.data() + 6, 2, &log);
  EXPECT_TRUE(reader.Room(5).empty());
  EXPECT_EQ(reader.Room(3).size(), 4u) << "the memory is there";
  reader.Read(bytes.data() + 8, 4, &log);
  EXPECT_TRUE(reader.Room(0).empty());
  bytes = ClientFrame(kFin | kPing, "abcdef");
  reader.Read(bytes.data(), 8, &log);
  EXPECT_TRUE(reader.Room(1).empty());
}

TEST_F(MessageReaderTest, WhatIsReceivedInPlaceIsAnArrivalToo) {
  options_.max_buffered_chunks = 2;
  MessageReader reader(options_);
  EventLog log;
  std::string bytes = ClientFrame(kFin | kText, "abc");
  reader.Read(bytes.data(), 6, &log);
  for (size_t i = 6; i < 9; i++) {
    const std::span<char> room = reader.Room(1);
    if (room.empty()) break;
    room[0] = bytes[i];
    reader.ReadInPlace(1, &log);
  }
  EXPECT_EQ(log.text, "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008|");
}

TEST_F(MessageReaderTest, AStoppedReadGoesOnWithTheRest) {
  MessageReader reader(options_);
  EventLog log;
  log.stops = true;
  const std::string first = ClientFrame(kFin | kText, "a");
  std::string bytes = first + ClientFrame(kFin | kPing, "b") + ClientFrame(kFin | kText, "c");
  EXPECT_EQ(reader.Read(bytes.data(), bytes.size(), &log), first.size());
  EXPECT_EQ(log.text, "text a|");
  log.stops = false;
  EXPECT_EQ(reader.Read(bytes.data() + first.size(), bytes.size() - first.size(), &log),
            bytes.size() - first.size());
  EXPECT_EQ(log.text, "text a|ping b|text c|");
  EXPECT_EQ(reader.Read(bytes.data(), 0, &log), 0u);
}

}  // namespace
}  // namespace httpsys::websocket
