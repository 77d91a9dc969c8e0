#include "http2/request_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace httpsys::http2 {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

const http1::MethodTable& Methods() {
  static const http1::MethodTable table({"GET", "POST", "CONNECT", "OPTIONS", "HEAD"});
  return table;
}

class RequestFieldsTest : public testing::Test {
 protected:
  FieldsStatus Read(const Fields& list, bool ends_stream = true) {
    fields_.Reset(1024, 32);
    for (const auto& [name, value] : list) fields_.Add(name, value);
    return fields_.Finish(Methods(), ends_stream);
  }

  Fields Lines() const {
    Fields lines;
    for (const auto& line : head_.lines) lines.emplace_back(line.name, line.value);
    return lines;
  }

  static Fields Get(Fields more = {}) {
    Fields all = {{":method", "GET"}, {":scheme", "http"}, {":path", "/a"}, {":authority", "h:1"}};
    for (auto& field : more) all.push_back(std::move(field));
    return all;
  }

  RequestFields fields_;
  const http1::RequestHead& head_ = fields_.head();
};

TEST_F(RequestFieldsTest, PseudoFieldsBecomeTargetAndHost) {
  ASSERT_EQ(Read(Get({{"x-a", "b"}})), FieldsStatus::kDone);
  EXPECT_EQ(head_.target, "/a");
  EXPECT_EQ(head_.host, "h:1");
  EXPECT_TRUE(head_.has_host);
  EXPECT_EQ(Lines(), (Fields{{"host", "h:1"}, {"x-a", "b"}}));
  EXPECT_EQ(head_.body, http1::BodyKind::kNone);
}

TEST_F(RequestFieldsTest, CookiesAreJoinedWhereTheFirstStood) {
  ASSERT_EQ(Read(Get({{"a", "1"}, {"cookie", "x=1"}, {"b", "2"}, {"cookie", "y=2"}})),
            FieldsStatus::kDone);
  EXPECT_EQ(Lines(), (Fields{{"host", "h:1"}, {"a", "1"}, {"cookie", "x=1; y=2"}, {"b", "2"}}));
}

TEST_F(RequestFieldsTest, ABodyWithoutLengthIsOneInChunks) {
  ASSERT_EQ(Read(Get(), false), FieldsStatus::kDone);
  EXPECT_EQ(head_.body, http1::BodyKind::kChunked);
  EXPECT_EQ(Lines().back(), (Fields::value_type{"transfer-encoding", "chunked"}));
  ASSERT_EQ(Read(Get({{"content-length", "7"}}), false), FieldsStatus::kDone);
  EXPECT_EQ(head_.body, http1::BodyKind::kLength);
  EXPECT_EQ(head_.content_length, 7u);
}

TEST_F(RequestFieldsTest, AnExtendedConnectIsAnUpgrade) {
  ASSERT_EQ(Read({{":method", "CONNECT"},
                  {":protocol", "websocket"},
                  {":scheme", "http"},
                  {":path", "/chat"},
                  {":authority", "h"},
                  {"sec-websocket-key", "theirs"}},
                 false),
            FieldsStatus::kDone);
  EXPECT_TRUE(fields_.is_extended_connect());
  EXPECT_TRUE(head_.upgrade);
  EXPECT_EQ(Methods().Name(head_.method), "GET");
  EXPECT_EQ(head_.target, "/chat");
  EXPECT_EQ(Lines(), (Fields{{"host", "h"},
                             {"connection", "Upgrade"},
                             {"upgrade", "websocket"},
                             {"sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="}}));
}

TEST_F(RequestFieldsTest, ATunnelIsForItsAuthority) {
  ASSERT_EQ(Read({{":method", "CONNECT"}, {":authority", "there:80"}}, false), FieldsStatus::kDone);
  EXPECT_EQ(head_.target, "there:80");
  EXPECT_TRUE(head_.upgrade);
  EXPECT_EQ(head_.body, http1::BodyKind::kNone);
}

TEST_F(RequestFieldsTest, WhatWouldMeanSomethingElseInHttp1IsMalformed) {
  for (const Fields& bad : std::vector<Fields>{
           Get({{"connection", "close"}}),
           Get({{"transfer-encoding", "chunked"}}),
           Get({{"upgrade", "h2c"}}),
           Get({{"keep-alive", "1"}}),
           Get({{"host", "other"}}),
           Get({{"content-length", "1"}, {"content-length", "2"}}),
           Get({{"content-length", "x"}}),
           Get({{"content-length", "5"}}),
           Get({{":unknown", "x"}}),
           Get({{":path", "/again"}}),
           Get({{"host", "h:1"}, {"host", "h:1"}}),
           {{":method", "GET"}, {":path", "/"}, {"host", "h"}, {"host", "h"}},
           {{":method", "GET"}, {":path", "/"}, {":authority", "u@h"}},
           {{":method", "GET"}, {":path", "/"}, {":authority", "@h"}},
           {{":method", "CONNECT"}, {":authority", "u@h:80"}},
           {{":method", "GET"}, {":path", "/a#b"}, {":authority", "h"}},
           {{":method", "GET"}, {":path", "/a?b#"}, {":authority", "h"}},
           {{":method", "GET"}, {":path", "a"}},
           {{":method", "GET"}, {":path", "/ "}},
           {{":method", "GET"}, {":path", "*"}},
           {{":method", "GET"}, {":path", "/"}, {":protocol", "websocket"}},
       }) {
    EXPECT_EQ(Read(bad), FieldsStatus::kMalformed) << bad.back().first << bad.back().second;
  }
  EXPECT_EQ(Read(Get({{"host", "h:1"}})), FieldsStatus::kDone);
  EXPECT_EQ(Read({{":method", "OPTIONS"}, {":path", "*"}}), FieldsStatus::kDone);
}

TEST_F(RequestFieldsTest, LimitsAreThoseOfAHead) {
  EXPECT_EQ(Read(Get({{"a", std::string(1100, 'x')}})), FieldsStatus::kTooLarge);
  EXPECT_GT(fields_.total_bytes(), 1100u);
  Fields many;
  for (int i = 0; i < 33; ++i) many.emplace_back("a", "b");
  EXPECT_EQ(Read(Get(many)), FieldsStatus::kTooLarge);
  EXPECT_EQ(Read({{":method", "BREW"}, {":path", "/"}}), FieldsStatus::kUnknownMethod);
}

TEST_F(RequestFieldsTest, TrailersHaveNoPseudoFields) {
  std::vector<http1::HeaderLine> lines;
  fields_.Reset(1024, 32);
  fields_.Add("x-sum", "1");
  ASSERT_TRUE(fields_.FinishTrailers(&lines));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].name, "x-sum");
  fields_.Reset(1024, 32);
  fields_.Add(":path", "/");
  EXPECT_FALSE(fields_.FinishTrailers(&lines));
}

// A byte of a compressed section can be a whole field, which costs far more here than its text.
TEST_F(RequestFieldsTest, NoMoreFieldsThanWereAnnouncedAreKept) {
  constexpr size_t kBytesMax = 16 * 1024;
  const size_t most = RequestFields::ListBytesMax(kBytesMax) / 32;
  for (const size_t count : {most, most + 1}) {
    fields_.Reset(kBytesMax, SIZE_MAX);
    for (const auto& [name, value] : Get()) fields_.Add(name, value);
    for (size_t i = 0; i < count; ++i) fields_.Add("a", "");
    EXPECT_EQ(fields_.Finish(Methods(), true),
              count == most ? FieldsStatus::kDone : FieldsStatus::kTooLarge);
  }
}

// The record of a request has 16 bits for the number of its lines.
TEST_F(RequestFieldsTest, AHeadHasNoMoreLinesThanItsRecordCounts) {
  for (const size_t count : {limits::kRequestLinesMax, limits::kRequestLinesMax + 1}) {
    fields_.Reset(8 * 1024 * 1024, SIZE_MAX);
    for (const auto& [name, value] : Get()) fields_.Add(name, value);
    for (size_t i = 0; i < count; ++i) fields_.Add("x", "");
    const bool fits = count == limits::kRequestLinesMax;
    EXPECT_EQ(fields_.Finish(Methods(), false),
              fits ? FieldsStatus::kDone : FieldsStatus::kTooLarge);
    EXPECT_LE(head_.lines.size(), size_t{UINT16_MAX});
  }
}

TEST_F(RequestFieldsTest, ASmallLimitOfBytesLeavesRoomForFields) {
  fields_.Reset(1024, SIZE_MAX);
  for (const auto& [name, value] : Get()) fields_.Add(name, value);
  for (int i = 0; i < 128; ++i) fields_.Add("a", "");
  EXPECT_EQ(fields_.Finish(Methods(), true), FieldsStatus::kDone);
}

TEST_F(RequestFieldsTest, WhatFollowsARefusalIsCountedOnly) {
  fields_.Reset(1024, 32);
  fields_.Refuse();
  fields_.Add("name", "value");
  EXPECT_EQ(fields_.total_bytes(), 9u);
  EXPECT_EQ(fields_.Finish(Methods(), true), FieldsStatus::kTooLarge);
  fields_.Reset(1024, 32);
  EXPECT_FALSE(fields_.is_refused());
}

}  // namespace
}  // namespace httpsys::http2
