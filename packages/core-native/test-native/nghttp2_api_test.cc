// Our declarations of nghttp2's types beside nghttp2's own.

#include "http2/nghttp2_api.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>

#include "http2/frame_walker.h"

namespace httpsys::http2 {
namespace {

static_assert(sizeof(NgField) == sizeof(nghttp2_nv));
static_assert(offsetof(NgField, value) == offsetof(nghttp2_nv, value));
static_assert(offsetof(NgField, name_bytes) == offsetof(nghttp2_nv, namelen));
static_assert(offsetof(NgField, value_bytes) == offsetof(nghttp2_nv, valuelen));
static_assert(offsetof(NgField, flags) == offsetof(nghttp2_nv, flags));
static_assert(sizeof(NgSetting) == sizeof(nghttp2_settings_entry));
static_assert(offsetof(NgSetting, value) == offsetof(nghttp2_settings_entry, value));
static_assert(sizeof(NgFrameHeader) == sizeof(nghttp2_frame_hd));
static_assert(offsetof(NgFrameHeader, stream_id) == offsetof(nghttp2_frame_hd, stream_id));
static_assert(offsetof(NgFrameHeader, type) == offsetof(nghttp2_frame_hd, type));
static_assert(offsetof(NgFrameHeader, flags) == offsetof(nghttp2_frame_hd, flags));
static_assert(sizeof(NgProvider) == sizeof(nghttp2_data_provider));
static_assert(offsetof(NgProvider, read) == offsetof(nghttp2_data_provider, read_callback));
static_assert(sizeof(NgMemory) == sizeof(nghttp2_mem));
static_assert(offsetof(NgMemory, user) == offsetof(nghttp2_mem, mem_user_data));
static_assert(offsetof(NgMemory, allocate) == offsetof(nghttp2_mem, malloc));
static_assert(offsetof(NgMemory, free) == offsetof(nghttp2_mem, free));
static_assert(offsetof(NgMemory, allocate_zeroed) == offsetof(nghttp2_mem, calloc));
static_assert(offsetof(NgMemory, reallocate) == offsetof(nghttp2_mem, realloc));

TEST(Nghttp2ApiTest, EveryFunctionIsFound) { EXPECT_NE(NgApi::Get(), nullptr); }

TEST(Nghttp2ApiTest, NumbersAreThoseOfTheHeader) {
  EXPECT_EQ(int{kDataFrame}, NGHTTP2_DATA);
  EXPECT_EQ(int{kHeadersFrame}, NGHTTP2_HEADERS);
  EXPECT_EQ(int{kPriorityFrame}, NGHTTP2_PRIORITY);
  EXPECT_EQ(int{kResetFrame}, NGHTTP2_RST_STREAM);
  EXPECT_EQ(int{kSettingsFrame}, NGHTTP2_SETTINGS);
  EXPECT_EQ(int{kPingFrame}, NGHTTP2_PING);
  EXPECT_EQ(int{kGoawayFrame}, NGHTTP2_GOAWAY);
  EXPECT_EQ(int{kWindowUpdateFrame}, NGHTTP2_WINDOW_UPDATE);
  EXPECT_EQ(int{kContinuationFrame}, NGHTTP2_CONTINUATION);
  EXPECT_EQ(int{kPriorityUpdateFrame}, NGHTTP2_PRIORITY_UPDATE);
  EXPECT_EQ(int{kFlagEndStream}, NGHTTP2_FLAG_END_STREAM);
  EXPECT_EQ(int{kFlagAck}, NGHTTP2_FLAG_ACK);
  EXPECT_EQ(int{kReadEof}, NGHTTP2_DATA_FLAG_EOF);
  EXPECT_EQ(int{kReadNoEndStream}, NGHTTP2_DATA_FLAG_NO_END_STREAM);
  EXPECT_EQ(int{kReadNoCopy}, NGHTTP2_DATA_FLAG_NO_COPY);
  EXPECT_EQ(kNgWouldBlock, NGHTTP2_ERR_WOULDBLOCK);
  EXPECT_EQ(kNgDeferred, NGHTTP2_ERR_DEFERRED);
  EXPECT_EQ(kNgStreamFailure, NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
  EXPECT_EQ(kNgCallbackFailure, NGHTTP2_ERR_CALLBACK_FAILURE);
  EXPECT_EQ(kNgBadPreface, NGHTTP2_ERR_BAD_CLIENT_MAGIC);
  EXPECT_EQ(kNgFlooded, NGHTTP2_ERR_FLOODED);
  EXPECT_EQ(int{kEnableConnectProtocol}, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL);
  EXPECT_EQ(int{kNoRfc7540Priorities}, NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES);
  EXPECT_EQ(int{kStreamClosed}, NGHTTP2_STREAM_CLOSED);
  EXPECT_EQ(int{kRefusedStream}, NGHTTP2_REFUSED_STREAM);
  EXPECT_EQ(int{kConnectError}, NGHTTP2_CONNECT_ERROR);
  EXPECT_EQ(int{kEnhanceYourCalm}, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(kPreface, NGHTTP2_CLIENT_MAGIC);
}

}  // namespace
}  // namespace httpsys::http2
