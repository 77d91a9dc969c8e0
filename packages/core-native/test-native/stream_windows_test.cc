#include "engine/http2/stream_windows.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace httpsys::engine {
namespace {

using Change = StreamWindows::Change;

constexpr uint32_t kWindow = limits::kReceiveWindowBytes;
constexpr uint32_t kExtra = limits::kReceiveExtraBytes;

class StreamWindowsTest : public testing::Test {
 protected:
  StreamWindowsTest() {
    state_.window_bytes = limits::kReceiveWindowBytes;
    state_.is_settled = true;
  }

  std::unique_ptr<Http2Stream> Begin() {
    auto stream = std::make_unique<Http2Stream>();
    stream->state = &state_;
    StreamWindows::Begin(stream.get(), now_ms_);
    return stream;
  }
  // JavaScript consumes so many bytes, the last of them after `ms`.
  Change Consume(Http2Stream* stream, uint32_t bytes, uint64_t ms = 0) {
    now_ms_ += ms;
    return windows_.OnConsumed(stream, bytes, now_ms_);
  }
  // Returns how many more streams may have a larger window.
  size_t CountFree() {
    std::vector<std::unique_ptr<Http2Stream>> streams;
    do {
      streams.push_back(Begin());
    } while (Consume(streams.back().get(), kWindow) == Change::kLarger);
    for (const auto& stream : streams) windows_.OnDetached(stream.get());
    return streams.size() - 1;
  }

  Http2State state_;
  StreamWindows windows_;
  uint64_t now_ms_ = 70'000;  // Above what 16 bits count.
};

TEST_F(StreamWindowsTest, ABodyThatIsConsumedAtOnceHasALargerWindow) {
  const auto stream = Begin();
  EXPECT_EQ(Consume(stream.get(), kWindow - 1), Change::kNone);
  EXPECT_EQ(Consume(stream.get(), 1, limits::kKeepsUpMs), Change::kLarger);
  EXPECT_EQ(Consume(stream.get(), kWindow), Change::kNone);
}

TEST_F(StreamWindowsTest, ABodyThatIsConsumedLaterHasNot) {
  const auto stream = Begin();
  EXPECT_EQ(Consume(stream.get(), kWindow, limits::kKeepsUpMs + 1), Change::kNone);
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
}

TEST_F(StreamWindowsTest, AStreamThatBecomesSlowCountsUntilItsClientHasSentWhatItWasGiven) {
  const auto stream = Begin();
  ASSERT_EQ(Consume(stream.get(), kWindow), Change::kLarger);
  EXPECT_EQ(Consume(stream.get(), kWindow, limits::kSlowMs), Change::kNone);
  EXPECT_EQ(Consume(stream.get(), kWindow, limits::kSlowMs + 1), Change::kUsual);
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax - 1);
  EXPECT_EQ(Consume(stream.get(), kExtra - 1), Change::kNone);
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax - 1);
  EXPECT_EQ(Consume(stream.get(), 1), Change::kNone);
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
  EXPECT_EQ(Consume(stream.get(), kWindow), Change::kLarger);
}

TEST_F(StreamWindowsTest, SixteenStreamsHaveItAtATime) { EXPECT_EQ(CountFree(), 16u); }

TEST_F(StreamWindowsTest, ABodyCountsUntilItHasEndedAndIsConsumed) {
  const auto stream = Begin();
  ASSERT_EQ(Consume(stream.get(), kWindow), Change::kLarger);
  stream->has_ended = true;
  stream->unread_bytes = 1;
  windows_.OnEnded(stream.get());
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax - 1);
  stream->unread_bytes = 0;
  EXPECT_EQ(Consume(stream.get(), 1), Change::kNone);
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
  windows_.OnDetached(stream.get());
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
}

TEST_F(StreamWindowsTest, ASmallerWindowThanUsualStays) {
  state_.window_bytes = limits::kReceiveWindowBytes - 1;
  EXPECT_EQ(CountFree(), 0u);
}

TEST_F(StreamWindowsTest, NoWindowGrowsBeforeTheClientKnowsTheSettings) {
  state_.is_settled = false;
  EXPECT_EQ(CountFree(), 0u);
}

TEST_F(StreamWindowsTest, NoWindowGrowsBeyondWhatTheProtocolCounts) {
  state_.window_bytes = INT32_MAX - limits::kReceiveExtraBytes;
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
  ++state_.window_bytes;
  EXPECT_EQ(CountFree(), 0u);
}

TEST_F(StreamWindowsTest, NoWindowGrowsOfAStreamThatIsOver) {
  const auto gone = Begin();
  gone->is_gone = true;
  EXPECT_EQ(Consume(gone.get(), kWindow), Change::kNone);
  const auto detached = Begin();
  detached->state = nullptr;
  EXPECT_EQ(Consume(detached.get(), kWindow), Change::kNone);
}

}  // namespace
}  // namespace httpsys::engine
