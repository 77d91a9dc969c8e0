// permessage-deflate: deflater, inflater, the states they share, and the reader on top of them.

#include "websocket/message_deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/client_frames.h"
#include "support/event_log.h"
#include "websocket/message_reader.h"

namespace httpsys::websocket {
namespace {

using std::operator""sv;
using test::ClientFrame;
using test::EventLog;
using test::kFin;
using test::kRsv1;

constexpr uint8_t kText = 1;
constexpr uint8_t kBinary = 2;
constexpr uint8_t kPing = 9;

// Text that compresses, and differs from seed to seed.
std::string Sample(size_t size, uint32_t seed = 1) {
  static constexpr std::string_view kWords[] = {"alpha ", "beta ", "gamma ", "delta ", "epsilon "};
  std::string text;
  while (text.size() < size) {
    seed = seed * 1664525 + 1013904223;
    text += kWords[(seed >> 24) % 5];
    if ((seed >> 16) % 7 == 0) text += std::to_string(seed);
  }
  text.resize(size);
  return text;
}

std::string Noise(size_t size) {
  std::string bytes;
  uint32_t seed = 7;
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1664525 + 1013904223;
    bytes += static_cast<char>(seed >> 24);
  }
  return bytes;
}

std::string Deflated(Deflater* deflater, std::string_view payload, bool is_last = true) {
  ByteBuffer out;
  EXPECT_TRUE(deflater->Deflate(payload, is_last, &out));
  return std::string(out.view());
}

std::string Inflated(Inflater* inflater, std::string_view payload, bool is_last = true) {
  ByteBuffer out;
  const Inflater::Result result = inflater->Inflate(payload, is_last, 0, &out);
  return result == Inflater::Result::kOk ? std::string(out.view()) : inflater->zlib_message();
}

TEST(MessageDeflate, MessagesComeBackWhateverTheWindowLevelAndMemory) {
  ZlibPool pool;
  for (const int bits : {8, 9, 10, 12, 15}) {
    for (const int level : {-1, 0, 1, 9}) {
      for (const int mem_level : {1, 8, 9}) {
        for (const bool takes_over : {true, false}) {
          const ZlibParameters parameters{static_cast<int8_t>(bits), static_cast<int8_t>(level),
                                          static_cast<int8_t>(mem_level), 0};
          Deflater deflater(&pool, parameters, takes_over);
          Inflater inflater(&pool, bits, takes_over);
          for (const size_t size : {0, 1, 5, 64, 0, 1000, 100'000}) {
            const std::string text = size == 1000 ? Noise(size) : Sample(size);
            ASSERT_EQ(Inflated(&inflater, Deflated(&deflater, text)), text)
                << bits << " " << level << " " << mem_level << " " << takes_over << " " << size;
          }
        }
      }
    }
  }
}

TEST(MessageDeflate, AnEmptyMessageIsOneByteEachTime) {
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  EXPECT_EQ(Deflated(&deflater, ""), "\0"sv);
  EXPECT_EQ(Deflated(&deflater, ""), "\0"sv);
  EXPECT_EQ(Deflated(&deflater, "a").size(), 3u);
  EXPECT_EQ(Deflated(&deflater, ""), "\0"sv);
  EXPECT_EQ(Deflated(&deflater, "", false), "");
}

TEST(MessageDeflate, AContextTakenOverMakesTheSecondMessageShorter) {
  ZlibPool pool;
  const std::string text = Sample(2000);
  Deflater takes_over(&pool, {}, true);
  Deflater starts_anew(&pool, {}, false);
  const std::string first = Deflated(&takes_over, text);
  EXPECT_LT(Deflated(&takes_over, text).size(), first.size() / 10);
  EXPECT_EQ(Deflated(&starts_anew, text), first);
  EXPECT_EQ(Deflated(&starts_anew, text), first);
  EXPECT_FALSE(starts_anew.has_state());
}

TEST(MessageDeflate, AReleasedContextIsStillTakenOver) {
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  Inflater inflater(&pool, 15, true);
  size_t first_bytes = 0;
  // Beyond the window, too.
  for (int i = 0; i < 30; i++) {
    const std::string text = Sample(3000);
    const std::string bytes = Deflated(&deflater, text);
    if (i == 0) first_bytes = bytes.size();
    EXPECT_TRUE(i == 0 || bytes.size() < first_bytes / 10) << i;
    ASSERT_EQ(Inflated(&inflater, bytes), text);
    deflater.Release();
    inflater.Release();
    ASSERT_FALSE(deflater.has_state() || inflater.has_state());
    EXPECT_LE(deflater.dictionary_bytes(), kDeflateDictionaryBytesMax);
    EXPECT_LE(inflater.dictionary_bytes(), 32u * 1024);
    EXPECT_GE(inflater.dictionary_bytes(), std::min<size_t>((i + 1) * 3000, 32 * 1024 - 300));
  }
  EXPECT_EQ(pool.live_states(), 0u);
}

TEST(MessageDeflate, AForgottenContextStartsAnew) {
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  const std::string text = Sample(2000);
  const std::string first = Deflated(&deflater, text);
  deflater.ForgetContext();
  EXPECT_EQ(Deflated(&deflater, text), first);
  deflater.Release();
  deflater.ForgetContext();
  EXPECT_EQ(Deflated(&deflater, text), first);
}

TEST(MessageDeflate, ManyOwnersShareFewStates) {
  ZlibPool pool(3, 2);
  std::vector<std::unique_ptr<Deflater>> deflaters;
  std::vector<std::unique_ptr<Inflater>> inflaters;
  for (int i = 0; i < 20; i++) {
    deflaters.push_back(std::make_unique<Deflater>(&pool, ZlibParameters{}, true));
    inflaters.push_back(std::make_unique<Inflater>(&pool, 15, true));
  }
  uint32_t seed = 3;
  for (int round = 0; round < 400; round++) {
    seed = seed * 1664525 + 1013904223;
    const size_t i = (seed >> 24) % 20;
    const std::string text = Sample(1 + (seed >> 8) % 5000, seed % 5);
    ASSERT_EQ(Inflated(inflaters[i].get(), Deflated(deflaters[i].get(), text)), text);
    ASSERT_LE(pool.live_states(), 5u);
    if (round % 50 == 0) pool.ReleaseIdle();
    if (round % 70 == 0) deflaters[i] = std::make_unique<Deflater>(&pool, ZlibParameters{}, true);
  }
}

TEST(MessageDeflate, StatesAreSharedAmongEqualParametersOnly) {
  ZlibPool pool;
  Deflater stores(&pool, {15, 0, 8, 0}, false);
  Deflater deflates(&pool, {15, 9, 8, 0}, false);
  const std::string text = Sample(1000);
  for (int i = 0; i < 3; i++) {
    EXPECT_GE(Deflated(&stores, text).size(), text.size());
    EXPECT_LT(Deflated(&deflates, text).size(), text.size() / 2);
  }
}

TEST(MessageDeflate, APoolMayKeepNoStateBetweenMessages) {
  ZlibPool pool(0, 0);
  Deflater deflater(&pool, {}, true);
  Inflater inflater(&pool, 15, true);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(Inflated(&inflater, Deflated(&deflater, "Hello")), "Hello");
    EXPECT_FALSE(deflater.has_state() || inflater.has_state());
  }
}

TEST(MessageDeflate, StatesThatWereNotUsedBetweenTwoCallsAreTakenAway) {
  ZlibPool pool;
  Deflater idle(&pool, {}, true);
  Deflater busy(&pool, {}, true);
  Deflated(&idle, "a");
  Deflated(&busy, "a");
  pool.ReleaseIdle();
  EXPECT_EQ(pool.live_states(), 2u);
  Deflated(&busy, "a");
  pool.ReleaseIdle();
  EXPECT_FALSE(idle.has_state());
  EXPECT_TRUE(busy.has_state());
  pool.ReleaseIdle();
  EXPECT_EQ(pool.live_states(), 0u);
}

TEST(MessageDeflate, WithinAMessageAStateStays) {
  ZlibPool pool(1, 1);
  Deflater deflater(&pool, {}, false);
  Inflater inflater(&pool, 15, false);
  const std::string one = Deflated(&deflater, "Hello ", false);
  deflater.Release();
  pool.ReleaseIdle();
  EXPECT_TRUE(deflater.has_state());
  const std::string two = Deflated(&deflater, "Hello", true);
  std::string text = Inflated(&inflater, one.substr(0, 3), false);
  inflater.Release();
  text += Inflated(&inflater, one.substr(3), false);
  text += Inflated(&inflater, two, true);
  EXPECT_EQ(text, "Hello Hello");
  EXPECT_FALSE(deflater.has_state() || inflater.has_state());
  // The last frame of a message may be empty.
  text = Inflated(&inflater, Deflated(&deflater, "abc", false), false);
  text += Inflated(&inflater, Deflated(&deflater, "", true), true);
  EXPECT_EQ(text, "abc");
  EXPECT_FALSE(deflater.has_state() || inflater.has_state());
}

TEST(MessageDeflate, AMessageThatEndsWithinABlockIsContinuedByTheNext) {
  // Two messages that are one stored block of 6 bytes: the appended 00 00 ff ff is data of it.
  ZlibPool pool;
  Inflater inflater(&pool, 15, true);
  EXPECT_EQ(Inflated(&inflater, "\x00\x06\x00\xf9\xff"sv), "\x00\x00\xff\xff"sv);
  inflater.Release();
  pool.ReleaseIdle();
  pool.ReleaseIdle();
  EXPECT_EQ(Inflated(&inflater, "ab"), "ab");
}

TEST(MessageDeflate, AFinalBlockEndsTheContext) {
  // "\x01": final stored block, "ab"; what follows it in the frame is dropped.
  ZlibPool pool;
  Inflater inflater(&pool, 15, true);
  const std::string_view final_block =
      "\x01\x02\x00\xfd\xff"
      "ab"sv;
  EXPECT_EQ(Inflated(&inflater, final_block), "ab");
  EXPECT_EQ(Inflated(&inflater, std::string(final_block) + "dropped"), "ab");
  EXPECT_EQ(Inflated(&inflater, final_block, false), "ab");
  EXPECT_EQ(Inflated(&inflater, "dropped", false), "");
  EXPECT_EQ(Inflated(&inflater, final_block), "ab");
  EXPECT_FALSE(inflater.has_state());
}

TEST(MessageDeflate, ADamagedMessageIsRefusedWithZlibsWords) {
  ZlibPool pool;
  const struct {
    std::string_view bytes;
    const char* message;
  } kRows[] = {{"\x07"sv, "invalid block type"},
               {"\x00\x01\x00\x01\x00"sv, "invalid stored block lengths"},
               {"\x02\x02\x00"sv, "invalid distance too far back"}};
  for (const auto& row : kRows) {
    Inflater inflater(&pool, 15, true);
    ByteBuffer out;
    EXPECT_EQ(inflater.Inflate(row.bytes, true, 0, &out), Inflater::Result::kFailed);
    EXPECT_STREQ(inflater.zlib_message(), row.message);
    EXPECT_EQ(inflater.zlib_code(), Z_DATA_ERROR);
    EXPECT_FALSE(inflater.has_state());
  }
}

TEST(MessageDeflate, ABombStopsAtTheLimitWithLittleMoreMemory) {
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  const std::string bomb = Deflated(&deflater, std::string(50'000'000, 'x'));
  EXPECT_LT(bomb.size(), 60'000u);
  for (const size_t limit : {1, 16 * 1024 - 1, 100'000, 1'000'000}) {
    Inflater inflater(&pool, 15, true);
    ByteBuffer out;
    EXPECT_EQ(inflater.Inflate(bomb, true, limit, &out), Inflater::Result::kTooLong);
    EXPECT_GT(out.size(), limit);
    EXPECT_LE(out.size(), limit + 16 * 1024);
    EXPECT_LE(out.capacity(), limit * 3 / 2 + 32 * 1024);
  }
  Inflater inflater(&pool, 15, true);
  ByteBuffer out;
  EXPECT_EQ(inflater.Inflate(bomb, true, 50'000'000, &out), Inflater::Result::kOk);
  EXPECT_EQ(out.size(), 50'000'000u);
}

TEST(MessageDeflate, WhereNodeSeesTheDamageBeforeTheLimitItIsDamage) {
  // 200 bytes, then an invalid block: within Node's first chunk, so the limit comes too late.
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  const std::string good = Deflated(&deflater, std::string(200, 'x'), false);
  Inflater inflater(&pool, 15, true);
  ByteBuffer out;
  EXPECT_EQ(inflater.Inflate(good + "\x07", true, 100, &out), Inflater::Result::kFailed);
  const std::string longer = Deflated(&deflater, std::string(20'000, 'x'), false);
  Inflater other(&pool, 15, true);
  out.Clear();
  EXPECT_EQ(other.Inflate(good, false, 0, &out), Inflater::Result::kOk);
  EXPECT_EQ(other.Inflate(longer + "\x07", true, 300, &out), Inflater::Result::kTooLong);
}

TEST(MessageDeflate, NodesChunkGoesOnFromMessageToMessage) {
  // 100 bytes are left of the first chunk, so 100 of the 200 are seen before the damage.
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  Inflater inflater(&pool, 15, true);
  ByteBuffer out;
  const std::string first = Deflated(&deflater, Sample(16 * 1024 - 100));
  EXPECT_EQ(inflater.Inflate(first, true, 0, &out), Inflater::Result::kOk);
  const std::string second = Deflated(&deflater, std::string(200, 'x'), false) + "\x07";
  out.Clear();
  EXPECT_EQ(inflater.Inflate(second, true, 50, &out), Inflater::Result::kTooLong);
}

// As with `ws`, which counts a message when it has a frame of it whole.
TEST(MessageDeflate, AFrameIsToldToBeDamagedThoughItsMessageIsTooLong) {
  ZlibPool pool;
  Deflater deflater(&pool, {}, true);
  const std::string first = Deflated(&deflater, std::string(20'000, 'a'), false);
  const std::string second = Deflated(&deflater, std::string(20'000, 'b'), false);
  for (const size_t size_max : {size_t{30'000}, size_t{19'000}}) {
    for (const bool is_damaged : {false, true}) {
      Inflater inflater(&pool, 15, true);
      ByteBuffer out;
      const auto begin = inflater.Inflate(first, false, size_max, &out);
      if (size_max < 20'000) {
        EXPECT_EQ(begin, Inflater::Result::kTooLong);
        continue;
      }
      ASSERT_EQ(begin, Inflater::Result::kOk);
      EXPECT_EQ(inflater.Inflate(is_damaged ? second + "\x07" : second, true, size_max, &out),
                is_damaged ? Inflater::Result::kFailed : Inflater::Result::kTooLong);
      EXPECT_LE(out.size(), size_max + 16 * 1024);
    }
  }
}

TEST(MessageDeflate, OutputThatFillsAChunkExactlyIsWhole) {
  ZlibPool pool;
  for (const size_t size : {16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 32 * 1024, 48 * 1024}) {
    Deflater deflater(&pool, {}, true);
    Inflater inflater(&pool, 15, true);
    for (const std::string& text : {Sample(size), std::string(size, 'x'), Noise(size)}) {
      ASSERT_EQ(Inflated(&inflater, Deflated(&deflater, text)), text) << size;
    }
  }
}

class CompressedReaderTest : public testing::Test {
 protected:
  std::string Read(std::string_view bytes, size_t first, size_t step, bool stops = false) {
    ZlibPool pool;
    Inflater inflater(&pool, 15, true);
    MessageReader reader(options_, &inflater);
    EventLog log;
    log.stops = stops;
    std::string copy(bytes);
    for (size_t at = 0; at < copy.size();) {
      const size_t end = std::min(at < first ? first : at + step, copy.size());
      at += reader.Read(copy.data() + at, end - at, &log);
    }
    return log.text;
  }

  void ExpectHoweverCut(std::string_view bytes, std::string_view events) {
    for (size_t i = 1; i <= bytes.size(); i++) ASSERT_EQ(Read(bytes, i, bytes.size()), events) << i;
    EXPECT_EQ(Read(bytes, 0, 1), events);
    EXPECT_EQ(Read(bytes, 0, 3, true), events);
  }

  ZlibPool pool_;
  Deflater deflater_{&pool_, {}, true};
  ReaderOptions options_;
};

TEST_F(CompressedReaderTest, CompressedAndPlainMessagesAreReadHoweverTheyAreCut) {
  const std::string one = Deflated(&deflater_, "Hello Hello Hello");
  const std::string two = Deflated(&deflater_, "Hello Hello");
  ExpectHoweverCut(
      ClientFrame(kFin | kRsv1 | kText, one) + ClientFrame(kFin | kText, "plain") +
          ClientFrame(kRsv1 | kText, two.substr(0, 2)) + ClientFrame(kFin | kPing, "p") +
          ClientFrame(0, "") + ClientFrame(0, two.substr(2)) + ClientFrame(kFin, "") +
          ClientFrame(kFin | kRsv1 | kBinary, "\0"sv) + ClientFrame(kFin | kRsv1 | kText, "\0"sv) +
          ClientFrame(kText, "\xc3") + ClientFrame(kFin, "\xa9"),
      "text Hello Hello Hello|text plain|ping p|text Hello Hello|binary |text |text "
      "\xc3\xa9|");
}

TEST_F(CompressedReaderTest, TheCompressedBitBelongsToAMessagesFirstFrame) {
  ExpectHoweverCut("\xc0\x80", "WS_ERR_UNEXPECTED_RSV_1 1002|");
  ExpectHoweverCut(ClientFrame(kRsv1 | kText, "") + "\x40\x80", "WS_ERR_UNEXPECTED_RSV_1 1002|");
  ExpectHoweverCut("\xc9\x80", "WS_ERR_UNEXPECTED_RSV_1 1002|");
  ExpectHoweverCut("\x49\x80", "WS_ERR_EXPECTED_FIN 1002|");
  ExpectHoweverCut("\xc3\x80", "WS_ERR_INVALID_OPCODE 1002|");
  ExpectHoweverCut("\xd1\x80", "WS_ERR_UNEXPECTED_RSV_2_3 1002|");
}

TEST_F(CompressedReaderTest, WhatIsInflatedIsJudged) {
  ExpectHoweverCut(ClientFrame(kFin | kRsv1 | kText, Deflated(&deflater_, "a\xff")),
                   "WS_ERR_INVALID_UTF8 1007|");
  ExpectHoweverCut(ClientFrame(kFin | kRsv1 | kText, "\x07"), "Z_DATA_ERROR 1007|");
  deflater_.ForgetContext();
  const std::string euro = Deflated(&deflater_, "\xe2\x82", false);
  ExpectHoweverCut(
      ClientFrame(kRsv1 | kText, euro) + ClientFrame(kFin, Deflated(&deflater_, "\xac", true)),
      "text \xe2\x82\xac|");
}

TEST_F(CompressedReaderTest, TheLimitHoldsForWhatIsSentAndForWhatItInflatesTo) {
  options_.max_payload = 50;
  const std::string fits =
      ClientFrame(kFin | kRsv1 | kText, Deflated(&deflater_, std::string(50, 'x')));
  ExpectHoweverCut(fits, "text " + std::string(50, 'x') + "|");
  ExpectHoweverCut(
      fits + ClientFrame(kFin | kRsv1 | kText, Deflated(&deflater_, std::string(51, 'x'))),
      "text " + std::string(50, 'x') + "|WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009|");
  ExpectHoweverCut("\xc1\xb3", "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009|");
  // Each fragment fits, the message does not.
  deflater_.ForgetContext();
  const std::string one = Deflated(&deflater_, std::string(30, 'x'), false);
  const std::string two = Deflated(&deflater_, std::string(30, 'y'), true);
  ExpectHoweverCut(ClientFrame(kRsv1 | kText, one) + ClientFrame(kFin, two),
                   "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH 1009|");
}

TEST_F(CompressedReaderTest, TooManyFragmentsAreNotInflated) {
  options_.max_fragments = 1;
  ExpectHoweverCut(ClientFrame(kRsv1 | kText, "") + ClientFrame(kFin, "\x07"),
                   "WS_ERR_TOO_MANY_BUFFERED_PARTS 1008|");
}

TEST_F(CompressedReaderTest, ACompressedFrameIsReceivedInPlace) {
  const std::string text = Noise(5000);
  std::string frame = ClientFrame(kFin | kRsv1 | kBinary, Deflated(&deflater_, text));
  Inflater inflater(&pool_, 15, true);
  MessageReader reader(options_, &inflater);
  EventLog log;
  reader.Read(frame.data(), 100, &log);
  for (size_t at = 100; at < frame.size();) {
    const std::span<char> room = reader.Room(1);
    ASSERT_FALSE(room.empty());
    const size_t size = std::min(room.size(), frame.size() - at);
    std::copy_n(frame.begin() + static_cast<ptrdiff_t>(at), size, room.begin());
    EXPECT_TRUE(reader.ReadInPlace(size, &log));
    at += size;
  }
  EXPECT_EQ(log.text, "binary " + text + "|");
  EXPECT_EQ(log.owned_messages, 1u);
}

}  // namespace
}  // namespace httpsys::websocket
