#include "http2/frame_walker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http2/nghttp2_api.h"
#include "http2/used_streams.h"

namespace httpsys::http2 {
namespace {

using Kind = FrameWalker::Kind;

std::string Frame(uint8_t type, uint32_t stream, const std::string& payload) {
  std::string frame = {0, static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size()),
                       static_cast<char>(type), 0};
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(stream >> shift & 0xff));
  }
  return frame + payload;
}

// Streams of DATA, in pieces; -1 for a refused PRIORITY.
std::vector<int32_t> Walk(const std::string& text, size_t piece) {
  FrameWalker walker(3);
  std::vector<int32_t> seen;
  for (size_t at = 0; at < text.size(); at += piece) {
    std::string_view input = std::string_view(text).substr(at, piece);
    while (!input.empty()) {
      const FrameWalker::Step step = walker.Read(input);
      input.remove_prefix(step.used);
      if (step.kind == Kind::kData) seen.push_back(step.stream);
      if (step.kind == Kind::kBadPriority) {
        seen.push_back(-1);
        return seen;
      }
    }
  }
  return seen;
}

TEST(FrameWalkerTest, DataIsSeenHoweverTheBytesAreSplit) {
  const std::string text = "pre" + Frame(kHeadersFrame, 1, "abc") + Frame(kDataFrame, 1, "") +
                           Frame(kDataFrame, 3, std::string(300, 'x')) +
                           Frame(kPriorityFrame, 5, std::string("\0\0\0\1\0", 5)) +
                           Frame(kPriorityFrame, 5, "bad") + Frame(kDataFrame, 7, "y");
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(Walk(text, piece), (std::vector<int32_t>{1, 3, 7})) << piece;
  }
}

TEST(FrameWalkerTest, APriorityForNobodyOrOnItselfIsRefused) {
  const std::string on_five("\0\0\0\5\0", 5);
  for (size_t piece = 1; piece < 20; ++piece) {
    EXPECT_EQ(Walk("pre" + Frame(kPriorityFrame, 5, on_five), piece), (std::vector<int32_t>{-1}));
    EXPECT_EQ(Walk("pre" + Frame(kPriorityFrame, 0, on_five), piece), (std::vector<int32_t>{-1}));
  }
}

TEST(UsedStreamsTest, WhatHasEndedIsClosedAndWhatWasSkippedNeverOpens) {
  using Verdict = UsedStreams::Verdict;
  UsedStreams used;
  EXPECT_EQ(used.OnFrame(1, true), Verdict::kFine);
  EXPECT_EQ(used.OnFrame(7, true), Verdict::kFine);
  EXPECT_EQ(used.OnFrame(9, false), Verdict::kFine);
  EXPECT_EQ(used.OnFrame(2, true), Verdict::kFine);
  EXPECT_EQ(used.OnFrame(1, false), Verdict::kClosed);
  EXPECT_EQ(used.OnFrame(7, true), Verdict::kClosed);
  EXPECT_EQ(used.OnFrame(3, true), Verdict::kSkipped);
  EXPECT_EQ(used.OnFrame(5, true), Verdict::kSkipped);
  used.OnReset(7);
  EXPECT_EQ(used.OnFrame(7, false), Verdict::kFine);
}

TEST(UsedStreamsTest, WhatIsForgottenIsFine) {
  using Verdict = UsedStreams::Verdict;
  UsedStreams used;
  for (int32_t id = 1; id < 2001; id += 2) {
    ASSERT_EQ(used.OnFrame(id, true), Verdict::kFine);
    used.OnReset(id);
  }
  for (int32_t id = 1; id < 2001; id += 2) EXPECT_EQ(used.OnFrame(id, false), Verdict::kFine);
}

}  // namespace
}  // namespace httpsys::http2
