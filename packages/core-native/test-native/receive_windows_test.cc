#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/block_store.h"
#include "engine/connection/input.h"
#include "engine/connection/receive_queue.h"
#include "engine/connection/socket_watch.h"
#include "records/addresses.h"
#include "support/fake_javascript.h"
#include "support/http1_messages.h"

namespace httpsys::engine {
namespace {

constexpr int32_t kWindow = limits::kReceiveWindowBytes;
constexpr int32_t kExtra = limits::kReceiveExtraBytes;

// Gives JavaScript the whole window, of which it consumes all after `ms`.
void Fill(ReceiveWindows* windows, Connection* connection, uint64_t* now_ms, uint64_t ms) {
  windows->BeginRead(connection);
  const int32_t bytes = connection->input.window_bytes();
  ReceiveWindows::Use(connection, static_cast<size_t>(bytes));
  SocketWatch::Pause(connection, kPauseWindow);
  windows->EndRead(connection, *now_ms);
  *now_ms += ms;
  EXPECT_TRUE(windows->Give(connection, static_cast<uint32_t>(bytes), *now_ms));
  SocketWatch::Resume(connection, kPauseWindow);
}

class ReceiveWindowsTest : public testing::Test {
 protected:
  // Returns the bytes that JavaScript may be given in one read.
  int32_t ReadBytes(Connection* connection) {
    windows_.BeginRead(connection);
    return connection->input.window_bytes();
  }

  ReceiveWindows windows_;
  Connection connection_{-1, Addresses{}};
  uint64_t now_ms_ = 70'000;  // Above what 16 bits count.
};

TEST_F(ReceiveWindowsTest, AConnectionBeginsWithAWindowOf128KiB) {
  EXPECT_EQ(ReadBytes(&connection_), kWindow);
}

TEST_F(ReceiveWindowsTest, JavaScriptThatConsumesItsWindowAtOnceIsGivenMore) {
  Fill(&windows_, &connection_, &now_ms_, limits::kKeepsUpMs);
  EXPECT_EQ(ReadBytes(&connection_), kWindow + kExtra);
  ReceiveWindows::Use(&connection_, 1024 * 1024);
  windows_.EndRead(&connection_, now_ms_);
  EXPECT_EQ(connection_.input.window_bytes(), 0);
}

TEST_F(ReceiveWindowsTest, JavaScriptThatTakesItsTimeIsNot) {
  Fill(&windows_, &connection_, &now_ms_, limits::kKeepsUpMs + 1);
  EXPECT_EQ(ReadBytes(&connection_), kWindow);
}

TEST_F(ReceiveWindowsTest, WhoBecomesSlowHasTheUsualWindowAgain) {
  Fill(&windows_, &connection_, &now_ms_, 0);
  Fill(&windows_, &connection_, &now_ms_, 1000);
  EXPECT_EQ(connection_.input.window_bytes(), kWindow);
  EXPECT_EQ(ReadBytes(&connection_), kWindow);
}

TEST_F(ReceiveWindowsTest, JavaScriptThatConsumesOnlyTheBeginningAtOnceIsNot) {
  ReceiveWindows::Use(&connection_, kWindow);
  SocketWatch::Pause(&connection_, kPauseWindow);
  windows_.EndRead(&connection_, now_ms_);
  EXPECT_TRUE(windows_.Give(&connection_, kWindow / 2, now_ms_));
  SocketWatch::Resume(&connection_, kPauseWindow);
  EXPECT_EQ(ReadBytes(&connection_), kWindow / 2);
  now_ms_ += limits::kKeepsUpMs + 1;
  EXPECT_FALSE(windows_.Give(&connection_, kWindow / 2, now_ms_));
  EXPECT_EQ(ReadBytes(&connection_), kWindow);
}

TEST_F(ReceiveWindowsTest, WhoBecomesSlowWithMoreIsGivenNothingUntilTheUsualWindowHasRoom) {
  Fill(&windows_, &connection_, &now_ms_, 0);
  (void)ReadBytes(&connection_);
  ReceiveWindows::Use(&connection_, 1024 * 1024);
  SocketWatch::Pause(&connection_, kPauseWindow);
  windows_.EndRead(&connection_, now_ms_);
  now_ms_ += limits::kSlowMs + 1;
  EXPECT_FALSE(windows_.Give(&connection_, kExtra, now_ms_));
  EXPECT_EQ(connection_.input.window_bytes(), 0);
  EXPECT_TRUE(windows_.Give(&connection_, 1000, now_ms_));
  SocketWatch::Resume(&connection_, kPauseWindow);
  EXPECT_EQ(ReadBytes(&connection_), 1000);
}

TEST_F(ReceiveWindowsTest, WhoConsumesLittleAtATimeBecomesSlow) {
  Fill(&windows_, &connection_, &now_ms_, 0);
  (void)ReadBytes(&connection_);
  ReceiveWindows::Use(&connection_, 1024 * 1024);
  constexpr uint32_t kLittle = 32 * 1024;
  for (int i = 0; i < 2; ++i) {
    SocketWatch::Pause(&connection_, kPauseWindow);
    windows_.EndRead(&connection_, now_ms_);
    now_ms_ += limits::kSlowMs * 3 / 4;
    const bool goes_on = windows_.Give(&connection_, kLittle, now_ms_);
    EXPECT_EQ(goes_on, i == 0);
    SocketWatch::Resume(&connection_, kPauseWindow);
    if (i == 0) ReceiveWindows::Use(&connection_, kLittle);
  }
  EXPECT_EQ(connection_.input.window_bytes(), static_cast<int32_t>(kLittle) - kExtra);
}

TEST_F(ReceiveWindowsTest, WhatWasLentIsTakenBackWhenAlmostAllIsConsumed) {
  Fill(&windows_, &connection_, &now_ms_, 0);
  (void)ReadBytes(&connection_);
  ReceiveWindows::Use(&connection_, 1024 * 1024);
  windows_.EndRead(&connection_, now_ms_);
  EXPECT_FALSE(windows_.Give(&connection_, kExtra, now_ms_));
  EXPECT_EQ(connection_.input.window_bytes(), kExtra);
  EXPECT_FALSE(windows_.Give(&connection_, kWindow / 2, now_ms_));
  EXPECT_EQ(connection_.input.window_bytes(), kWindow / 2);
}

TEST_F(ReceiveWindowsTest, AReadThatBringsLittleKeepsNothing) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < 2 * limits::kReceiveExtraMax; ++i) {
    connections.push_back(std::make_unique<Connection>(-1, Addresses{}));
    Fill(&windows_, connections.back().get(), &now_ms_, 0);
    EXPECT_EQ(ReadBytes(connections.back().get()), kWindow + kExtra);
    ReceiveWindows::Use(connections.back().get(), 1000);
    windows_.EndRead(connections.back().get(), now_ms_);
    EXPECT_EQ(connections.back()->input.window_bytes(), kWindow - 1000);
  }
}

TEST_F(ReceiveWindowsTest, OnlySoManyConnectionsHaveMoreAtATime) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < limits::kReceiveExtraMax; ++i) {
    connections.push_back(std::make_unique<Connection>(-1, Addresses{}));
    Fill(&windows_, connections.back().get(), &now_ms_, 0);
    EXPECT_EQ(ReadBytes(connections.back().get()), kWindow + kExtra);
    ReceiveWindows::Use(connections.back().get(), 1024 * 1024);
    windows_.EndRead(connections.back().get(), now_ms_);
  }
  Fill(&windows_, &connection_, &now_ms_, 0);
  EXPECT_EQ(ReadBytes(&connection_), kWindow);
  windows_.OnDetached(connections.front().get());
  EXPECT_EQ(ReadBytes(&connection_), kWindow + kExtra) << "the other one has left";
}

TEST_F(ReceiveWindowsTest, TheLongestMessageOfAWebSocketUsesUpAWindow) {
  ReceiveWindows::Use(&connection_, size_t{INT32_MAX} + 32);
  ReceiveWindows::Use(&connection_, size_t{INT32_MAX} + 32);
  EXPECT_LT(connection_.input.window_bytes(), 0);
}

TEST_F(ReceiveWindowsTest, TheLongestMessageUsesUpAWindowThatIsTakenBack) {
  Fill(&windows_, &connection_, &now_ms_, 0);
  ReceiveWindows::Use(&connection_, static_cast<size_t>(ReadBytes(&connection_)));
  ReceiveWindows::Use(&connection_, size_t{INT32_MAX} + 32);
  windows_.OnDetached(&connection_);
  EXPECT_EQ(connection_.input.window_bytes(), INT32_MIN);
}

TEST_F(ReceiveWindowsTest, ForgedConsumptionDoesNotWidenAWindow) {
  (void)windows_.Give(&connection_, UINT32_MAX, now_ms_);
  EXPECT_EQ(connection_.input.window_bytes(), kWindow);
}

class ReceiveQueueTest : public testing::Test {
 protected:
  void Lend(size_t count) {
    for (size_t i = 0; i < count; ++i) blocks_.Lend(next_id_++, memory_.data());
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(1);
  ReceiveBlocks blocks_;
  uint32_t next_id_ = 0;
  ReceiveQueue queue_{&blocks_};
  Connection first_{-1, Addresses{}};
  Connection second_{-1, Addresses{}};
};

TEST_F(ReceiveQueueTest, NobodyWaitsWhileJavaScriptMayLendMore) {
  EXPECT_TRUE(queue_.TakeUpTo(2, &first_));
  EXPECT_TRUE(queue_.loans().empty());
  Lend(1);
  EXPECT_TRUE(queue_.TakeUpTo(2, &first_));
  EXPECT_EQ(queue_.loans().size(), 1u);
}

TEST_F(ReceiveQueueTest, ConnectionsWaitInTurnForBlocksThatAreUnderWay) {
  Lend(limits::kReceiveBlocksMax);
  while (blocks_.available() > 0) {
    ASSERT_TRUE(queue_.TakeUpTo(limits::kBlocksPerRead, &first_));
    queue_.loans().clear();
  }
  EXPECT_FALSE(queue_.TakeUpTo(1, &first_));
  EXPECT_FALSE(queue_.TakeUpTo(1, &second_));
  EXPECT_EQ(queue_.Next(), nullptr);
  EXPECT_FALSE(queue_.is_due());
  for (uint32_t id = 0; id < limits::kBlocksPerRead; ++id) blocks_.Lend(id, memory_.data());
  EXPECT_TRUE(queue_.is_due());
  EXPECT_EQ(queue_.Next(), &first_);
  EXPECT_EQ(queue_.Next(), nullptr) << "there are blocks for one";
  EXPECT_FALSE(queue_.is_due());
  Connection third(-1, Addresses{});
  EXPECT_FALSE(queue_.TakeUpTo(1, &third)) << "others have waited";
  EXPECT_TRUE(queue_.TakeUpTo(limits::kBlocksPerRead, &first_));
  queue_.loans().clear();
  queue_.OnDetached(&third);
  queue_.EndTurns();
  for (uint32_t id = 0; id < limits::kBlocksPerRead; ++id) blocks_.Lend(id, memory_.data());
  EXPECT_EQ(queue_.Next(), &second_);
  EXPECT_EQ(queue_.Next(), nullptr);
}

TEST_F(ReceiveQueueTest, ATurnWithoutBlocksIsTheNextOneAgain) {
  Lend(limits::kReceiveBlocksMax);
  std::vector<ReceiveBlocks::Loan> all;
  EXPECT_TRUE(blocks_.TakeUpTo(limits::kReceiveBlocksMax, &all));
  EXPECT_FALSE(queue_.TakeUpTo(limits::kBlocksPerRead, &first_));
  EXPECT_FALSE(queue_.TakeUpTo(1, &second_));
  for (uint32_t id = 0; id < limits::kBlocksPerRead; ++id) blocks_.Lend(id, memory_.data());
  EXPECT_EQ(queue_.Next(), &first_);
  // RecordWriter::Body() takes a block, too, to copy bytes into it.
  (void)blocks_.Take();
  EXPECT_FALSE(queue_.TakeUpTo(limits::kBlocksPerRead, &first_));
  queue_.EndTurns();
  blocks_.Lend(0, memory_.data());
  EXPECT_EQ(queue_.Next(), &first_);
}

TEST_F(ReceiveQueueTest, ATurnThatIsNotUsedIsForgotten) {
  Lend(limits::kReceiveBlocksMax);
  std::vector<ReceiveBlocks::Loan> all;
  EXPECT_TRUE(blocks_.TakeUpTo(limits::kReceiveBlocksMax, &all));
  EXPECT_FALSE(queue_.TakeUpTo(1, &first_));
  EXPECT_FALSE(queue_.TakeUpTo(1, &second_));
  for (uint32_t id = 0; id < limits::kBlocksPerRead; ++id) blocks_.Lend(id, memory_.data());
  EXPECT_EQ(queue_.Next(), &first_);
  EXPECT_EQ(queue_.Next(), nullptr);
  queue_.EndTurns();
  EXPECT_EQ(queue_.Next(), &second_);
}

TEST_F(ReceiveQueueTest, AConnectionThatLeavesDoesNotWait) {
  Lend(limits::kReceiveBlocksMax);
  std::vector<ReceiveBlocks::Loan> all;
  EXPECT_TRUE(blocks_.TakeUpTo(limits::kReceiveBlocksMax, &all));
  EXPECT_FALSE(queue_.TakeUpTo(1, &first_));
  EXPECT_FALSE(queue_.TakeUpTo(1, &second_));
  queue_.OnDetached(&first_);
  queue_.OnDetached(&first_);
  Lend(limits::kReceiveBlocksMax);
  EXPECT_EQ(queue_.Next(), &second_);
  EXPECT_EQ(queue_.Next(), nullptr);
}

}  // namespace
}  // namespace httpsys::engine

namespace httpsys::test {
namespace {

// A body of `bytes` that differs at every offset.
std::string BodyOf(size_t bytes) {
  std::string body;
  for (size_t i = 0; i < bytes; ++i) body.push_back(static_cast<char>(i * 31 + i / 251));
  return body;
}

TEST(ReceiveWindowsEngineTest, BlocksOfOneReadArriveInTheOrderOfTheirBytes) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  uint32_t next_id = 0;
  for (; next_id < limits::kBlocksPerRead; ++next_id) js.LendBlock(next_id);
  const std::string body = BodyOf(6 * 1024 * 1024 + 12345);
  std::thread sender([&] { peer.Send(Post(body.size(), body)); });
  std::string got;
  size_t lent = 0;
  while (got.size() < body.size()) {
    const auto event = js.Next();
    if (!event.has_value() || event->type == RequestType::kBodyEnd) break;
    got += event->body;
    js.Command(ReplyType::kWindow, event->slot, 0, static_cast<uint32_t>(event->body.size()));
    if ((event->flags & records::kFlagLent) == 0) continue;
    ++lent;
    js.LendBlock(next_id++);
  }
  sender.join();
  EXPECT_TRUE(got == body);
  EXPECT_GT(lent, 10u);
}

TEST(ReceiveWindowsEngineTest, AnUploadWaitsForBlocksAndGoesOnWithThem) {
  FakeJavaScript js;
  const Peer peer(js.Connect());
  js.Expect(RequestType::kOpen);
  for (uint32_t id = 0; id < limits::kReceiveBlocksMax; ++id) js.LendBlock(id);
  std::vector<ReceiveBlocks::Loan> all;
  ReceiveBlocks& blocks = js.backend().requests(0).receive_blocks();
  EXPECT_TRUE(blocks.TakeUpTo(limits::kReceiveBlocksMax, &all));
  const std::string body = BodyOf(1024 * 1024);
  std::thread sender([&] { peer.Send(Post(body.size(), body)); });
  const Event request = js.Expect(RequestType::kRequest);
  std::string got = request.body;
  // Bytes that came with the head need no block.
  while (const auto piece = js.Next(50)) got += piece->body;
  EXPECT_LE(got.size(), limits::kReadBytes) << "JavaScript has all blocks";
  for (uint32_t id = 0; id < limits::kReceiveBlocksMax; ++id) js.LendBlock(id);
  // JavaScript wakes a lane that sleeps at the end of each batch, even without a reply.
  js.backend().Wake(0);
  while (got.size() < body.size()) {
    const auto event = js.Next();
    if (!event.has_value() || event->type == RequestType::kBodyEnd) break;
    got += event->body;
    js.Command(ReplyType::kWindow, event->slot, 0, static_cast<uint32_t>(event->body.size()));
  }
  sender.join();
  EXPECT_TRUE(got == body);
}

}  // namespace
}  // namespace httpsys::test
