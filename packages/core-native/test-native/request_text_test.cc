// Requests of HTTP/2 as text: what a parser of HTTP/1.1 makes of it is the same request.

#include "http2/request_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "http1/chunked_decoder.h"
#include "http2/request_fields.h"

namespace httpsys::http2 {
namespace {

using http1::BodyKind;
using Fields = std::vector<std::pair<std::string, std::string>>;

const http1::MethodTable& Methods() {
  static const http1::MethodTable table({"GET", "POST", "CONNECT", "OPTIONS"});
  return table;
}

class RequestTextTest : public testing::Test {
 protected:
  BodyKind Write(const Fields& list, bool ends_stream) {
    RequestFields fields;
    fields.Reset(1024, 32);
    for (const auto& [name, value] : list) fields.Add(name, value);
    EXPECT_EQ(fields.Finish(Methods(), ends_stream), FieldsStatus::kDone);
    text_.clear();
    return AppendRequestHead(Methods(), fields.head(), &text_);
  }

  const http1::RequestHead& Parse() {
    parser_.Reset(64 * 1024);
    EXPECT_EQ(parser_.Parse(text_), http1::ParseStatus::kDone) << text_;
    EXPECT_EQ(parser_.head_bytes(), text_.size());
    return parser_.head();
  }

  std::string text_;
  http1::RequestParser parser_{&Methods()};
};

TEST_F(RequestTextTest, AHeadIsTheSameForAParser) {
  Write({{":method", "GET"}, {":path", "/a?b"}, {":authority", "h:1"}, {"x-a", "b c"}}, true);
  EXPECT_EQ(text_, "GET /a?b HTTP/1.1\r\nhost: h:1\r\nx-a: b c\r\n\r\n");
  EXPECT_EQ(Parse().body, BodyKind::kNone);
}

TEST_F(RequestTextTest, ABodyKeepsItsLengthOrGoesInChunks) {
  const Fields post = {{":method", "POST"}, {":path", "/"}, {":authority", "h"}};
  EXPECT_EQ(Write(post, false), BodyKind::kChunked);
  EXPECT_EQ(Parse().body, BodyKind::kChunked);
  Fields counted = post;
  counted.emplace_back("content-length", "7");
  EXPECT_EQ(Write(counted, false), BodyKind::kLength);
  EXPECT_EQ(Parse().content_length, 7U);
  // Only chunks can have trailers behind them.
  counted.emplace_back("trailer", "x-sum");
  EXPECT_EQ(Write(counted, false), BodyKind::kChunked);
  EXPECT_EQ(Parse().body, BodyKind::kChunked);
  EXPECT_EQ(text_.find("content-length"), std::string::npos);
}

TEST_F(RequestTextTest, ATunnelIsAnUpgradeWithoutABody) {
  Write({{":method", "CONNECT"},
         {":protocol", "websocket"},
         {":path", "/chat"},
         {":authority", "h"},
         {"content-length", "5"}},
        false);
  EXPECT_TRUE(Parse().upgrade);
  EXPECT_EQ(Parse().body, BodyKind::kNone);
  Write({{":method", "CONNECT"}, {":authority", "far:443"}}, false);
  EXPECT_TRUE(text_.starts_with("CONNECT far:443 HTTP/1.1\r\n"));
  EXPECT_TRUE(Parse().upgrade);
}

TEST_F(RequestTextTest, ChunksAreReadAsTheyWereGiven) {
  std::string trailers;
  AppendLines({{"x-sum", "1"}, {"x-more", "2"}}, &trailers);
  AppendChunk("", &text_);
  EXPECT_EQ(text_, "");
  AppendChunk(std::string(300, 'a'), &text_);
  AppendLastChunk(trailers, &text_);
  http1::ChunkedDecoder decoder;
  decoder.Reset(1024, 8);
  std::string body;
  size_t at = 0;
  for (;;) {
    const http1::ChunkedDecoder::Step step = decoder.Next(std::string_view(text_).substr(at));
    at += step.consumed_bytes;
    if (step.status != http1::DecodeStatus::kBody) {
      EXPECT_EQ(step.status, http1::DecodeStatus::kEnd);
      break;
    }
    body.append(step.body);
  }
  EXPECT_EQ(body, std::string(300, 'a'));
  ASSERT_EQ(decoder.trailers().size(), 2U);
  EXPECT_EQ(decoder.trailers()[1].value, "2");
  EXPECT_EQ(at, text_.size());
}

}  // namespace
}  // namespace httpsys::http2
