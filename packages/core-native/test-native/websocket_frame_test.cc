#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/client_frames.h"
#include "support/guard_page.h"
#include "websocket/frame.h"
#include "websocket/message_reader.h"

namespace httpsys::websocket {
namespace {

using std::operator""sv;

std::string Header(Opcode opcode, bool is_final, bool is_compressed, uint64_t payload_bytes) {
  char out[kServerHeaderBytesMax];
  return {out, WriteFrameHeader(out, opcode, is_final, is_compressed, payload_bytes)};
}

TEST(WebSocketFrame, AHeaderHasTheShortestLengthThatFits) {
  EXPECT_EQ(Header(Opcode::kText, true, false, 0), "\x81\x00"sv);
  EXPECT_EQ(Header(Opcode::kText, true, false, 125), "\x81\x7d"sv);
  EXPECT_EQ(Header(Opcode::kText, true, false, 126), "\x81\x7e\x00\x7e"sv);
  EXPECT_EQ(Header(Opcode::kText, true, false, 65535), "\x81\x7e\xff\xff"sv);
  EXPECT_EQ(Header(Opcode::kText, true, false, 65536),
            "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"sv);
  EXPECT_EQ(Header(Opcode::kText, true, false, 0x0102030405060708),
            "\x81\x7f\x01\x02\x03\x04\x05\x06\x07\x08"sv);
}

TEST(WebSocketFrame, AHeaderSaysWhetherItsFrameIsTheLastAndCompressed) {
  EXPECT_EQ(Header(Opcode::kBinary, false, false, 1), "\x02\x01"sv);
  EXPECT_EQ(Header(Opcode::kBinary, false, true, 1), "\x42\x01"sv);
  EXPECT_EQ(Header(Opcode::kContinuation, true, false, 1), "\x80\x01"sv);
  EXPECT_EQ(Header(Opcode::kText, true, true, 1), "\xc1\x01"sv);
}

TEST(WebSocketFrame, AControlFrameIsCutAtItsLongestPayload) {
  char out[2 + kControlBytesMax];
  EXPECT_EQ(std::string_view(out, WriteControlFrame(out, Opcode::kPong, "ab")),
            "\x8a\x02"
            "ab"sv);
  EXPECT_EQ(std::string_view(out, WriteControlFrame(out, Opcode::kPing, "")), "\x89\x00"sv);
  const std::string text(126, 'x');
  EXPECT_EQ(std::string_view(out, WriteControlFrame(out, Opcode::kPing, text)),
            "\x89\x7d" + text.substr(0, 125));
}

TEST(WebSocketFrame, ACloseFrameHasACodeAndAReasonOrNothing) {
  char out[2 + kControlBytesMax];
  EXPECT_EQ(std::string_view(out, WriteCloseFrame(out, kNoStatus, "ignored")), "\x88\x00"sv);
  EXPECT_EQ(std::string_view(out, WriteCloseFrame(out, 1000, "")), "\x88\x02\x03\xe8"sv);
  EXPECT_EQ(std::string_view(out, WriteCloseFrame(out, 4999, "bye")),
            "\x88\x05\x13\x87"
            "bye"sv);
  const std::string text(124, 'x');
  EXPECT_EQ(std::string_view(out, WriteCloseFrame(out, 1001, text)),
            "\x88\x7d\x03\xe9" + text.substr(0, 123));
}

TEST(WebSocketFrame, CodesThatAPeerMaySendAreThoseOfWs) {
  for (uint32_t code = 0; code <= 65535; code++) {
    const bool is_good = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
                         (code >= 3000 && code <= 4999);
    ASSERT_EQ(IsCloseCode(code), is_good) << code;
  }
}

TEST(WebSocketFrame, AMaskIsRemovedAtEveryAlignmentLengthAndPhase) {
  const uint8_t mask[kMaskBytes] = {0x01, 0x80, 0xff, 0x5a};
  test::GuardPage page(4096);
  for (size_t offset = 0; offset < 33; offset += offset < 17 ? 1 : 15) {
    for (size_t size = 0; size < 300; size++) {
      for (uint64_t phase = 0; phase < 4; phase++) {
        std::string text(offset + size, '\0');
        std::string expected(text);
        for (size_t i = 0; i < size; i++) {
          text[offset + i] = static_cast<char>(i * 7);
          expected[offset + i] = static_cast<char>((i * 7) ^ mask[(phase + i) % 4]);
        }
        const std::string_view placed = page.Place(text);
        Unmask(const_cast<char*>(placed.data()) + offset, size, mask, phase + (uint64_t{1} << 40));
        ASSERT_EQ(placed, expected) << offset << " " << size << " " << phase;
      }
    }
  }
}

TEST(WebSocketFrame, ErrorsHaveTheCodesOfWs) {
  EXPECT_STREQ(ReadErrorCode(ReadError::kInvalidOpcode), "WS_ERR_INVALID_OPCODE");
  EXPECT_STREQ(ReadErrorCode(ReadError::kTooManyChunks), "WS_ERR_TOO_MANY_BUFFERED_PARTS");
  EXPECT_STREQ(ReadErrorCode(ReadError::kInflate), "Z_DATA_ERROR");
  EXPECT_STREQ(ReadErrorCode(ReadError::kInflate, -4), "Z_MEM_ERROR");
  EXPECT_STREQ(ReadErrorCode(ReadError::kInflate, -6), "Z_VERSION_ERROR");
  EXPECT_STREQ(ReadErrorCode(ReadError::kInflate, -7), "Z_DATA_ERROR");
  EXPECT_STREQ(ReadErrorCode(ReadError::kNone), "");
  EXPECT_EQ(CloseCodeOf(ReadError::kInvalidUtf8), 1007);
  EXPECT_EQ(CloseCodeOf(ReadError::kUnsupportedMessageLength), 1009);
  EXPECT_EQ(CloseCodeOf(ReadError::kInflate), 1007);
}

}  // namespace
}  // namespace httpsys::websocket
