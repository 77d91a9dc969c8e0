#include "engine/http2/stream_windows.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace httpsys::engine {
namespace {

constexpr uint32_t kWindow = limits::kReceiveWindowBytes;

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
  bool Consume(Http2Stream* stream, uint32_t bytes, uint64_t ms = 0) {
    now_ms_ += ms;
    return windows_.OnConsumed(stream, bytes, now_ms_);
  }
  // Returns how many more streams may have a larger window.
  size_t CountFree() {
    std::vector<std::unique_ptr<Http2Stream>> streams;
    do {
      streams.push_back(Begin());
    } while (Consume(streams.back().get(), kWindow));
    for (const auto& stream : streams) windows_.OnDetached(stream.get());
    return streams.size() - 1;
  }

  Http2State state_;
  StreamWindows windows_;
  uint64_t now_ms_ = 70'000;  // Above what 16 bits count.
};

TEST_F(StreamWindowsTest, ABodyThatIsConsumedAtOnceHasALargerWindow) {
  const auto stream = Begin();
  EXPECT_FALSE(Consume(stream.get(), kWindow - 1));
  EXPECT_TRUE(Consume(stream.get(), 1, limits::kKeepsUpMs));
  EXPECT_FALSE(Consume(stream.get(), kWindow));
}

TEST_F(StreamWindowsTest, ABodyThatIsConsumedLaterHasNot) {
  const auto stream = Begin();
  EXPECT_FALSE(Consume(stream.get(), kWindow, limits::kKeepsUpMs + 1));
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax);
}

TEST_F(StreamWindowsTest, AStreamThatBecomesSlowKeepsWhatItsClientWasGiven) {
  const auto stream = Begin();
  ASSERT_TRUE(Consume(stream.get(), kWindow));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Consume(stream.get(), kWindow, 1000));
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax - 1);
}

TEST_F(StreamWindowsTest, SixteenStreamsHaveItAtATime) { EXPECT_EQ(CountFree(), 16u); }

TEST_F(StreamWindowsTest, ABodyCountsUntilItHasEndedAndNoMoreThanUsualIsLeft) {
  const auto stream = Begin();
  ASSERT_TRUE(Consume(stream.get(), kWindow));
  stream->has_ended = true;
  stream->unread_bytes = kWindow + 1;
  windows_.OnEnded(stream.get());
  EXPECT_EQ(CountFree(), limits::kReceiveExtraMax - 1);
  stream->unread_bytes = kWindow;
  EXPECT_FALSE(Consume(stream.get(), 1));
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
  EXPECT_FALSE(Consume(gone.get(), kWindow));
  const auto detached = Begin();
  detached->state = nullptr;
  EXPECT_FALSE(Consume(detached.get(), kWindow));
}

}  // namespace
}  // namespace httpsys::engine
