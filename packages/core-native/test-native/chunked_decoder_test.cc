#include "http1/chunked_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/guard_page.h"

namespace httpsys::http1 {
namespace {

using std::operator""sv;

constexpr size_t kTrailerBytesMax = 16384;

class ChunkedDecoderTest : public testing::Test {
 protected:
  // Feeds the text in pieces that end at `cuts`. "hello | A: b | rest=GET" or an error code.
  std::string Decode(std::string_view text, const std::vector<size_t>& cuts,
                     size_t trailer_bytes_max = kTrailerBytesMax) {
    decoder_.Reset(trailer_bytes_max);
    std::string body;
    size_t begin = 0;
    for (const size_t cut : cuts) {
      std::string_view piece = page_.Place(text.substr(begin, cut - begin));
      begin = cut;
      for (bool again = true; again;) {
        const ChunkedDecoder::Step step = decoder_.Next(piece);
        EXPECT_LE(step.consumed_bytes, piece.size());
        piece.remove_prefix(step.consumed_bytes);
        body += step.body;
        if (step.status == DecodeStatus::kError) return ParseErrorCode(decoder_.error());
        if (step.status == DecodeStatus::kEnd) {
          return Describe(body) + std::string(piece) + std::string(text.substr(begin));
        }
        again = step.status == DecodeStatus::kBody;
        EXPECT_TRUE(again || piece.empty());
      }
    }
    return "incomplete " + body;
  }

  std::string Describe(std::string body) const {
    body += " |";
    for (const HeaderLine& line : decoder_.trailers()) {
      body += " " + std::string(line.name) + ": " + std::string(line.value) + " |";
    }
    return body + " rest=";
  }

  std::string DecodeWhole(std::string_view text, size_t trailer_bytes_max = kTrailerBytesMax) {
    return Decode(text, {text.size()}, trailer_bytes_max);
  }

  void ExpectHoweverCut(std::string_view text, const std::string& outcome) {
    SCOPED_TRACE(testing::PrintToString(text));
    EXPECT_EQ(DecodeWhole(text), outcome);
    std::vector<size_t> every_byte;
    for (size_t i = 1; i <= text.size(); i++) every_byte.push_back(i);
    EXPECT_EQ(Decode(text, every_byte), outcome);
    for (size_t i = 0; i <= text.size(); i++) {
      EXPECT_EQ(Decode(text, {i, text.size()}), outcome) << "cut at " << i;
    }
  }

  test::GuardPage page_{1 << 20};
  ChunkedDecoder decoder_;
};

struct Row {
  std::string_view text;
  const char* outcome;
};

const Row kAccepted[] = {
    {"0\r\n\r\n", " | rest="},
    {"5\r\nhello\r\n0\r\n\r\n", "hello | rest="},
    {"5\r\nhello\r\n1\r\n \r\n00000000000000000000a\r\n0123456789\r\n000\r\n\r\nGET",
     "hello 0123456789 | rest=GET"},
    {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789 | rest="},
    {"2\r\n\r\n\r\n0\r\n\r\n\r\n", "\r\n | rest=\r\n"},
    // Extensions.
    {"1;a\r\nx\r\n0;b\r\n\r\n", "x | rest="},
    {"1;a=b;c=\"d e;\\\"\\\\\t\x80\";;e=;=f\r\nx\r\n0\r\n\r\n", "x | rest="},
    {"1;a=b\"c\"\r\nx\r\n0\r\n\r\n", "x | rest="},
    // Trailers.
    {"0\r\nA: b\r\nC:\r\nD: \te f \r\n\r\nrest", " | A: b | C:  | D: e f | rest=rest"},
    {"1\r\nx\r\n0\r\nHost: a\r\nUpgrade: b\r\n\r\n", "x | Host: a | Upgrade: b | rest="},
};

TEST_F(ChunkedDecoderTest, WellFormedBodiesAreDecodedHoweverTheyAreCut) {
  for (const Row& row : kAccepted) ExpectHoweverCut(row.text, row.outcome);
}

// The last byte is the one that makes it wrong.
const Row kRefused[] = {
    {"\r", "HPE_INVALID_CHUNK_SIZE"},
    {"g", "HPE_INVALID_CHUNK_SIZE"},
    {";", "HPE_INVALID_CHUNK_SIZE"},
    {"-", "HPE_INVALID_CHUNK_SIZE"},
    {"0x", "HPE_INVALID_CHUNK_SIZE"},
    {"5 ", "HPE_INVALID_CHUNK_SIZE"},
    {"5\t", "HPE_INVALID_CHUNK_SIZE"},
    {"10000000000000000", "HPE_INVALID_CHUNK_SIZE"},
    {"fffffffffffffffff", "HPE_INVALID_CHUNK_SIZE"},
    {"5\n", "HPE_CR_EXPECTED"},
    {"5\r\r", "HPE_STRICT"},
    {"5\rh", "HPE_STRICT"},
    {"5\r\nhello\n", "HPE_CR_EXPECTED"},
    {"5\r\nhellox", "HPE_STRICT"},
    {"5\r\nhello\rx", "HPE_STRICT"},
    {"5\r\nhello\r\n\r", "HPE_INVALID_CHUNK_SIZE"},
    // Extensions.
    {"5; ", "HPE_STRICT"},
    {"5;\r", "HPE_STRICT"},
    {"5;\n", "HPE_CR_EXPECTED"},
    {"5;a ", "HPE_STRICT"},
    {"5;a\n", "HPE_CR_EXPECTED"},
    {"5;a\"", "HPE_STRICT"},
    {"5;a=b ", "HPE_STRICT"},
    {"5;a=b=", "HPE_STRICT"},
    {"5;a=b\n", "HPE_CR_EXPECTED"},
    {"5;a=\"\r", "HPE_STRICT"},
    {"5;a=\"\n", "HPE_STRICT"},
    {"5;a=\"\x7f", "HPE_STRICT"},
    {"5;a=\"\\\r", "HPE_STRICT"},
    {"5;a=\"\\\x7f", "HPE_STRICT"},
    {"5;a=\"\0"sv, "HPE_STRICT"},
    {"5;a=\"b\"c", "HPE_STRICT"},
    {"5;a=\"b\"\n", "HPE_CR_EXPECTED"},
    // Trailers.
    {"0\r\n ", "HPE_INVALID_HEADER_TOKEN"},
    {"0\r\n\n", "HPE_INVALID_HEADER_TOKEN"},
    {"0\r\n\rx", "HPE_STRICT"},
    {"0\r\nA ", "HPE_INVALID_HEADER_TOKEN"},
    {"0\r\nA: b\n", "HPE_CR_EXPECTED"},
    {"0\r\nA: b\r\n\t", "HPE_INVALID_HEADER_TOKEN"},
    {"0\r\nContent-Length:", "HPE_INVALID_CONTENT_LENGTH"},
    {"0\r\nTransfer-Encoding:", "HPE_INVALID_TRANSFER_ENCODING"},
};

TEST_F(ChunkedDecoderTest, MalformedBodiesAreRefusedHoweverTheyAreCut) {
  for (const Row& row : kRefused) ExpectHoweverCut(row.text, row.outcome);
}

// Runs the decoder over several pieces. Returns the error, "end" or "more".
std::string OutcomeOf(ChunkedDecoder* decoder, std::string_view text) {
  while (!text.empty()) {
    const ChunkedDecoder::Step step = decoder->Next(text);
    text.remove_prefix(step.consumed_bytes);
    if (step.status == DecodeStatus::kError) return ParseErrorCode(decoder->error());
    if (step.status == DecodeStatus::kEnd) return "end";
  }
  return "more";
}

TEST_F(ChunkedDecoderTest, ItsPositionBringsAnotherDecoderToTheSameFault) {
  for (const Row& row : kRefused) {
    for (size_t cut = 0; cut < row.text.size(); ++cut) {
      ChunkedDecoder first;
      first.Reset(kTrailerBytesMax);
      if (OutcomeOf(&first, row.text.substr(0, cut)) != "more") break;
      ChunkedDecoder second;
      second.Reset(kTrailerBytesMax);
      const std::string before = first.Position() + std::string(first.trailer_text());
      ASSERT_EQ(OutcomeOf(&second, before), "more") << before;
      const std::string_view rest = row.text.substr(cut);
      EXPECT_EQ(OutcomeOf(&second, rest), OutcomeOf(&first, rest))
          << testing::PrintToString(row.text) << " cut at " << cut;
    }
  }
}

TEST_F(ChunkedDecoderTest, ErrorsAreFoundWithTheByteThatMakesThemCertain) {
  for (const Row& row : kRefused) {
    const std::string outcome = DecodeWhole(row.text.substr(0, row.text.size() - 1));
    EXPECT_TRUE(outcome.starts_with("incomplete")) << testing::PrintToString(row.text) << outcome;
  }
}

TEST_F(ChunkedDecoderTest, EveryTruncationIsIncomplete) {
  const std::string_view text = "5;a=\"b\"\r\nhello\r\n0\r\nA: b\r\n\r\n";
  for (size_t i = 0; i < text.size(); i++) {
    EXPECT_TRUE(DecodeWhole(text.substr(0, i)).starts_with("incomplete")) << i;
  }
}

TEST_F(ChunkedDecoderTest, LargestChunkSizeFitsInto64Bits) {
  EXPECT_EQ(DecodeWhole("ffffffffffffffff\r\nabc"), "incomplete abc");
}

TEST_F(ChunkedDecoderTest, ExtensionsOfOneChunkAreLimited) {
  const std::string most(kChunkExtensionBytesMax, 'x');
  const std::string chunk = "1;" + most + "\r\na\r\n";
  EXPECT_EQ(DecodeWhole(chunk + chunk + "0\r\n\r\n"), "aa | rest=");
  EXPECT_EQ(DecodeWhole("1;" + most + "x"), "HPE_CHUNK_EXTENSIONS_OVERFLOW");
  EXPECT_EQ(DecodeWhole("1;x;" + most), "HPE_CHUNK_EXTENSIONS_OVERFLOW");
  EXPECT_EQ(DecodeWhole("1;x=\"" + most), "HPE_CHUNK_EXTENSIONS_OVERFLOW");
}

TEST_F(ChunkedDecoderTest, TrailersCountAsHeadersDo) {
  EXPECT_EQ(DecodeWhole("0\r\nab: cde\r\n\r\n", 5), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(DecodeWhole("0\r\nab: cde\r\n\r\n", 6), " | ab: cde | rest=");
  EXPECT_EQ(DecodeWhole("0\r\nabcde", 5), "HPE_HEADER_OVERFLOW");
  EXPECT_EQ(DecodeWhole("0\r\nA:" + std::string(kPaddingBytesMax + 1, ' ')), "HPE_HEADER_OVERFLOW");
}

TEST_F(ChunkedDecoderTest, TrailersOutliveTheInputAndAMoveOfTheDecoder) {
  ASSERT_EQ(DecodeWhole("0\r\nA: b\r\n\r\n"), " | A: b | rest=");
  page_.Place("xxxxxxxxxxxxxxxxxxxx");
  const ChunkedDecoder moved = std::move(decoder_);
  ASSERT_EQ(moved.trailers().size(), 1u);
  EXPECT_EQ(moved.trailers()[0].name, "A");
  EXPECT_EQ(moved.trailers()[0].value, "b");
}

TEST_F(ChunkedDecoderTest, CloseInATrailerIsReported) {
  ASSERT_EQ(DecodeWhole("0\r\nConnection: close\r\n\r\n"), " | Connection: close | rest=");
  EXPECT_TRUE(decoder_.closes_connection());
  ASSERT_EQ(DecodeWhole("0\r\nConnection: closed\r\n\r\n"), " | Connection: closed | rest=");
  EXPECT_FALSE(decoder_.closes_connection());
}

TEST_F(ChunkedDecoderTest, ResetForgetsAnUnfinishedBody) {
  ASSERT_EQ(DecodeWhole("5;a=\"b"), "incomplete ");
  EXPECT_EQ(DecodeWhole("1\r\nx\r\n0\r\nA: b"), "incomplete x");
  EXPECT_EQ(DecodeWhole("0\r\n\r\n"), " | rest=");
}

TEST_F(ChunkedDecoderTest, ATrailerLineTooManyIsRefused) {
  decoder_.Reset(kTrailerBytesMax, 1);
  EXPECT_EQ(decoder_.Next("0\r\nA: b\r\n\r\n").status, DecodeStatus::kEnd);
  decoder_.Reset(kTrailerBytesMax, 1);
  EXPECT_EQ(decoder_.Next("0\r\nA: b\r\nC").status, DecodeStatus::kError);
  EXPECT_EQ(decoder_.error(), ParseError::kHeaderOverflow);
}

}  // namespace
}  // namespace httpsys::http1
