// Frames and descriptors over a socket pair: one end a Channel, the other a Channel or raw bytes.

#include "sharing/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/descriptors.h"

namespace httpsys::sharing {
namespace {

using peer::FrameType;

struct Told {
  FrameType type{};
  std::string payload;
  int fd = -1;  // The first one.
  std::vector<int> others;
};

// Closes the channel when it breaks, as every handler does.
class Listener final : public Channel::Handler {
 public:
  void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) override {
    Told& told = frames.emplace_back();
    told.type = frame.type;
    told.payload = frame.payload;
    if (fds.empty()) {
      if (on_frame) on_frame(channel);
      return;
    }
    told.fd = fds[0];
    told.others.assign(fds.begin() + 1, fds.end());
    if (on_frame) on_frame(channel);
  }
  void OnBatchEnd(Channel*) override { ++batches; }
  void OnBroken(Channel* channel) override {
    ++broken;
    if (on_broken) on_broken(channel);
    channel->Close();
  }
  ~Listener() {
    for (const Told& told : frames) {
      if (told.fd != -1) close(told.fd);
      for (const int fd : told.others) close(fd);
    }
  }

  std::vector<Told> frames;
  int batches = 0;
  int broken = 0;
  std::function<void(Channel*)> on_frame;
  std::function<void(Channel*)> on_broken;
};

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    before_ = test::OpenDescriptors();
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &guard_);
    ends_ = test::SocketPair();
  }
  ~ChannelTest() override {
    uv_close(reinterpret_cast<uv_handle_t*>(&guard_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    if (ends_[1] != -1) close(ends_[1]);

    EXPECT_EQ(test::OpenDescriptors(), before_);
  }
  Channel* Open(int end, Listener* listener) {
    auto* channel = new Channel(&loop_, ends_[end], listener);
    ends_[end] = -1;
    EXPECT_EQ(channel->Start(), 0);
    return channel;
  }
  // Turns of the loop until it is so, or 5 s have passed.
  bool Until(const std::function<bool()>& is_so) {
    bool is_late = false;
    guard_.data = &is_late;
    uv_timer_start(
        &guard_, [](uv_timer_t* timer) { *static_cast<bool*>(timer->data) = true; }, 5000, 0);
    while (!is_so() && !is_late) uv_run(&loop_, UV_RUN_ONCE);
    uv_timer_stop(&guard_);
    return is_so();
  }
  // Bytes with descriptors, in one message.
  void SendRaw(const std::string& bytes, const std::vector<int>& fds = {}) const {
    iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 8)] = {};
    if (!fds.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
    }
    ASSERT_EQ(sendmsg(ends_[1], &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  uv_loop_t loop_;
  uv_timer_t guard_;
  std::array<int, 2> ends_{};
  int before_ = 0;
};

std::string Bytes(FrameType type, const std::string& payload, uint8_t fds = 0) {
  return peer::FrameHeader(type, payload.size(), fds) + payload;
}

TEST_F(ChannelTest, FramesThatCameTogetherAreOneBatch) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  SendRaw(Bytes(FrameType::kSync, "a") + Bytes(FrameType::kSynced, "bc"));
  ASSERT_TRUE(Until([&] { return listener.frames.size() == 2; }));
  EXPECT_EQ(listener.frames[1].type, FrameType::kSynced);
  EXPECT_EQ(listener.frames[1].payload, "bc");
  EXPECT_EQ(listener.batches, 1);
  channel->Close();
}

TEST_F(ChannelTest, ADescriptorArrivesWithItsFrameAndIsClosedOnExec) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  std::array<int, 2> sent = test::SocketPair();
  SendRaw(Bytes(FrameType::kSync, "a") + Bytes(FrameType::kHandOver, "b", 1), {sent[0]});
  ASSERT_TRUE(Until([&] { return listener.frames.size() == 2; }));
  EXPECT_EQ(listener.frames[0].fd, -1);
  const int fd = listener.frames[1].fd;
  ASSERT_NE(fd, -1);
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(write(sent[1], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 1);
  for (const int end : {sent[0], sent[1], fd}) close(end);
  listener.frames.clear();
  channel->Close();
}

TEST_F(ChannelTest, ManyDescriptorsArriveWithOneFrameInTheirOrder) {
  Listener sender;
  Listener receiver;
  Channel* from = Open(0, &sender);
  Channel* to = Open(1, &receiver);
  std::vector<int> sent;
  std::vector<int> others;
  for (size_t i = 0; i < peer::kFrameFdsMax; ++i) {
    const std::array<int, 2> pair = test::SocketPair();
    const char number = static_cast<char>(i);
    EXPECT_EQ(write(pair[1], &number, 1), 1);
    sent.push_back(pair[0]);
    others.push_back(pair[1]);
  }
  EXPECT_TRUE(from->Send(FrameType::kHandOver, "a", sent));
  EXPECT_TRUE(from->Send(FrameType::kHandOver, "b", sent[1]));
  for (const int fd : sent) close(fd);
  ASSERT_TRUE(Until([&] { return receiver.frames.size() == 2; }));
  const Told& told = receiver.frames[0];
  ASSERT_EQ(told.others.size(), sent.size() - 1);
  for (size_t i = 0; i < sent.size(); ++i) {
    char number = -1;
    EXPECT_EQ(read(i == 0 ? told.fd : told.others[i - 1], &number, 1), 1);
    EXPECT_EQ(number, static_cast<char>(i));
  }
  EXPECT_NE(receiver.frames[1].fd, -1);
  EXPECT_TRUE(receiver.frames[1].others.empty());
  sent.push_back(0);
  EXPECT_FALSE(from->Send(FrameType::kHandOver, "", sent)) << "one more than a frame may have";
  for (const int fd : others) close(fd);
  for (const Told& each : receiver.frames) {
    close(each.fd);
    for (const int fd : each.others) close(fd);
  }
  receiver.frames.clear();
  from->Close();
  to->Close();
}

TEST_F(ChannelTest, WithoutRoomForAllDescriptorsAFrameComesWithThoseThereIsRoomFor) {
  Listener sender;
  Listener receiver;
  Channel* from = Open(0, &sender);
  Channel* to = Open(1, &receiver);
  const std::array<int, 2> pair = test::SocketPair();
  const std::array<int, 4> four{pair[0], pair[0], pair[0], pair[0]};
  EXPECT_TRUE(from->Send(FrameType::kHandOver, "a", four));
  {
    const test::DescriptorLimit limit(2);
    ASSERT_TRUE(Until([&] { return receiver.frames.size() == 1; }));
  }
  // What comes later is not taken for the missing ones.
  EXPECT_TRUE(from->Send(FrameType::kHandOver, "b", pair[1]));
  ASSERT_TRUE(Until([&] { return receiver.frames.size() == 2; }));
  EXPECT_NE(receiver.frames[0].fd, -1);
  EXPECT_EQ(receiver.frames[0].others.size(), 1u);
  EXPECT_NE(receiver.frames[1].fd, -1);
  EXPECT_TRUE(receiver.frames[1].others.empty());
  for (const int fd : pair) close(fd);
  from->Close();
  to->Close();
}

TEST_F(ChannelTest, FramesThatTheSocketHasNoRoomForArriveInOrderWithTheirDescriptors) {
  const int small = 4096;
  setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  Listener sender;
  Listener receiver;
  Channel* from = Open(0, &sender);
  Channel* to = Open(1, &receiver);
  constexpr size_t kFrames = 60;
  for (size_t i = 0; i < kFrames; ++i) {
    const std::array<int, 2> pair = test::SocketPair();
    // What can be read from it is its number.
    const char number = static_cast<char>(i);
    EXPECT_EQ(write(pair[1], &number, 1), 1);
    EXPECT_TRUE(from->Send(FrameType::kHandOver, std::string(i * 997, number), pair[0]));
    close(pair[0]);
    close(pair[1]);
  }
  EXPECT_GT(from->unsent_bytes(), 0u);
  ASSERT_TRUE(Until([&] { return receiver.frames.size() == kFrames; }));
  for (size_t i = 0; i < kFrames; ++i) {
    Told& told = receiver.frames[i];
    EXPECT_EQ(told.payload, std::string(i * 997, static_cast<char>(i)));
    char number = -1;
    EXPECT_EQ(read(told.fd, &number, 1), 1);
    EXPECT_EQ(number, static_cast<char>(i));
    close(told.fd);
    told.fd = -1;
  }
  EXPECT_EQ(from->unsent_bytes(), 0u);
  from->Close();
  to->Close();
}

TEST_F(ChannelTest, ClosedWithUnsentFramesItKeepsNoDescriptor) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  const std::array<int, 2> pair = test::SocketPair();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(channel->Send(FrameType::kHandOver, std::string(100'000, 'x'), pair[0]));
  }
  EXPECT_GT(channel->unsent_bytes(), 0u);
  close(pair[0]);
  close(pair[1]);
  channel->Close();
  EXPECT_FALSE(channel->Send(FrameType::kSync, ""));
}

TEST_F(ChannelTest, WhatIsTooLongForAFrameIsNotSent) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  EXPECT_FALSE(channel->Send(FrameType::kState, std::string(peer::kFrameBytesMax + 1, 'x')));
  EXPECT_EQ(channel->unsent_bytes(), 0u);
  EXPECT_TRUE(channel->Send(FrameType::kState, "x"));
  channel->Close();
}

TEST_F(ChannelTest, ThePeersEndIsToldOnceAfterItsFrames) {
  Listener listener;
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kSync, "a"));
  close(ends_[1]);
  ends_[1] = -1;
  ASSERT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_EQ(listener.frames.size(), 1u);
}

TEST_F(ChannelTest, SendingToAPeerThatHasGoneFailsAndItsEndIsToldLater) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  close(ends_[1]);
  ends_[1] = -1;
  EXPECT_FALSE(channel->Send(FrameType::kSync, "a"));
  EXPECT_EQ(listener.broken, 0);
  EXPECT_TRUE(Until([&] { return listener.broken == 1; }));
}

TEST_F(ChannelTest, APeerThatGoesWhileFramesWaitIsTold) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  while (channel->unsent_bytes() == 0) {
    ASSERT_TRUE(channel->Send(FrameType::kSync, std::string(10'000, 'x')));
  }
  close(ends_[1]);
  ends_[1] = -1;
  EXPECT_TRUE(Until([&] { return listener.broken == 1; }));
}

TEST_F(ChannelTest, ABadFrameEndsIt) {
  Listener listener;
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kSync, "a") + std::string(8, '\xff') + Bytes(FrameType::kSync, "b"));
  ASSERT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_EQ(listener.frames.size(), 1u);
}

TEST_F(ChannelTest, AFrameWithoutTheDescriptorItSpeaksOfEndsIt) {
  Listener listener;
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kHandOver, "a", 1));
  ASSERT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_TRUE(listener.frames.empty());
}

TEST_F(ChannelTest, MoreDescriptorsThanAFrameSaysEndItAndNoneStaysOpen) {
  Listener listener;
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kHandOver, "a", 3), {0, 0, 0, 0});
  ASSERT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_TRUE(listener.frames.empty());
}

TEST_F(ChannelTest, DescriptorsWithAFrameThatSaysNothingOfThemEndItAndNoneStaysOpen) {
  Listener listener;
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kSync, "a"), {0, 0, 0, 0});
  ASSERT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_EQ(listener.frames.size(), 1u);
}

TEST_F(ChannelTest, DescriptorsWithoutFramesEndIt) {
  Listener listener;
  Open(0, &listener);
  const std::string part = Bytes(FrameType::kSync, std::string(100, 'x'), 1).substr(0, 1);
  SendRaw(part, {0});
  EXPECT_FALSE(listener.broken);
  SendRaw(std::string(1, '\0'), {0});
  EXPECT_TRUE(Until([&] { return listener.broken == 1; }));
}

TEST_F(ChannelTest, ClosedByItsHandlerItTellsNoMore) {
  Listener listener;
  listener.on_frame = [](Channel* channel) { channel->Close(); };
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kSync, "a") + Bytes(FrameType::kHandOver, "b", 1), {0});
  ASSERT_TRUE(Until([&] { return !listener.frames.empty(); }));
  uv_run(&loop_, UV_RUN_NOWAIT);
  EXPECT_EQ(listener.frames.size(), 1u);
  EXPECT_EQ(listener.broken, 0);
  EXPECT_EQ(listener.batches, 0);
}

TEST_F(ChannelTest, AHandlerMaySendWhileItIsTold) {
  Listener echo;
  echo.on_frame = [&](Channel* channel) {
    channel->Send(FrameType::kSynced, echo.frames.back().payload);
  };
  Listener listener;
  Channel* to = Open(1, &echo);
  Channel* from = Open(0, &listener);
  for (int i = 0; i < 100; ++i) from->Send(FrameType::kSync, std::string(5000, 'x'));
  EXPECT_TRUE(Until([&] { return listener.frames.size() == 100; }));
  from->Close();
  to->Close();
}

TEST_F(ChannelTest, AfterShutDownThePeerCannotSendAndWhatItSentBeforeIsRead) {
  Listener listener;
  Channel* channel = Open(0, &listener);
  SendRaw(Bytes(FrameType::kTaken, "a") + Bytes(FrameType::kTaken, "b"));
  channel->ShutDown();
  EXPECT_EQ(send(ends_[1], "x", 1, MSG_NOSIGNAL), -1);
  channel->ReadRest();
  EXPECT_EQ(listener.frames.size(), 2u);
  EXPECT_EQ(listener.broken, 0);
  channel->Close();
}

TEST_F(ChannelTest, TheRestMayBeReadWhenItsEndIsTold) {
  Listener listener;
  listener.on_broken = [](Channel* channel) {
    channel->ShutDown();
    channel->ReadRest();
  };
  Open(0, &listener);
  SendRaw(Bytes(FrameType::kTaken, "a"));
  close(ends_[1]);
  ends_[1] = -1;
  EXPECT_TRUE(Until([&] { return listener.broken == 1; }));
  EXPECT_EQ(listener.frames.size(), 1u);
}

TEST_F(ChannelTest, WithoutAValidDescriptorItDoesNotStart) {
  Listener listener;
  close(ends_[0]);
  ends_[0] = -1;
  auto* channel = new Channel(&loop_, -1, &listener);
  EXPECT_LT(channel->Start(), 0);
  channel->Close();
}

}  // namespace
}  // namespace httpsys::sharing
