// When requests that wait for an owner look for it again: a transport and its input over a socket
// pair, on the test's own thread, with a protocol that counts the looks.

#include "engine/peers/waiting_requests.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/thread.h"
#include "engine/connection/connection.h"
#include "support/own_attachment.h"

namespace httpsys::engine {
namespace {

class CountingProtocol final : public Protocol {
 public:
  int looks = 0;

  Advance OnReadable(Connection* connection, std::string_view, size_t*) override {
    ++looks;
    SocketWatch::Pause(connection, kPauseOrder);
    return Advance::kWait;
  }
  void OnEof(Connection*) override {}
  void OnTimeout(Connection*) override {}
  bool OnReply(Connection*, const ReplyRecord&) override { return false; }
};

class WaitingRequestsTest : public testing::Test, public InputHandler, public ReadObserver {
 protected:
  WaitingRequestsTest() {
    uv_loop_init(&loop_);
    transport_ = std::make_unique<Transport>(&loop_, &load_, nullptr, nullptr);
    input_ = std::make_unique<Input>(&loop_, transport_.get(), &protocols_, this);
    for (size_t phase = 0; phase < kInputPhases; ++phase) {
      protocols_.Set(static_cast<InputPhase>(phase), &protocol_);
    }
    transport_->set_input_handler(this);
    server_.attachment = own_attachment_.get();
    server_.config = ServerConfig::Create({});
    waiting_ = std::make_unique<WaitingRequests>(&loop_, input_.get());
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peer_ = ends[1];
    transport_->CountLoad();
    connection_ = transport_->Open(ends[0], &server_);
    transport_->Watch(connection_);
    connection_->input.KeepOnly("GET");
  }

  ~WaitingRequestsTest() override {
    waiting_->Close();
    transport_->Shutdown();
    uv_run(&loop_, UV_RUN_DEFAULT);
    transport_->FreeClosed();
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    close(peer_);
  }

  void OnReadable(Connection*) override {}
  void OnDisconnect(Connection*) override {}
  void OnTimeout(Connection*) override {}
  void OnTooSlow(Connection*) override {}
  void OnOutputEnding(Connection*) override {}
  void OnAnnounced(Connection*) override {}
  void OnDetached(Connection* connection) override { waiting_->OnDetached(connection); }
  void OnRead(Connection*) override {}

  // UV_RUN_ONCE would wait for ever if the timer is due before the loop begins to wait.
  void Turn() {
    uv_run(&loop_, UV_RUN_NOWAIT);
    usleep(100);
  }

  // A request comes back for the nth time. Returns after how long it looks again (ms).
  uint64_t WaitAfter(uint8_t returns) {
    connection_->sharing.SetReturns(returns);
    uv_update_time(&loop_);
    const uint64_t since_ms = uv_now(&loop_);
    waiting_->WaitReturned(connection_);
    for (const int before = protocol_.looks; protocol_.looks == before;) {
      // Nothing else that happens on the lane makes it look sooner.
      waiting_->Retry();
      Turn();
    }
    return uv_now(&loop_) - since_ms;
  }

  uv_loop_t loop_;
  std::atomic<uint32_t> load_ = 0;
  test::OwnAttachment own_attachment_;
  CountingProtocol protocol_;
  Protocols protocols_;
  LaneServer server_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<WaitingRequests> waiting_;
  Connection* connection_ = nullptr;
  int peer_ = -1;
};

TEST_F(WaitingRequestsTest, ARequestThatCameBackLooksTheLaterTheMoreOftenItHas) {
  EXPECT_GE(WaitAfter(1), limits::kWaitingRetryMs);
  EXPECT_GE(WaitAfter(limits::kReturnsPerWait), 2 * limits::kWaitingRetryMs);
  EXPECT_GE(WaitAfter(4 * limits::kReturnsPerWait), 16 * limits::kWaitingRetryMs);
}

TEST_F(WaitingRequestsTest, ItLooksAtOnceWhenTheRoutesHaveChanged) {
  connection_->sharing.SetReturns(limits::kReturnsMax);
  waiting_->WaitReturned(connection_);
  waiting_->Retry();
  EXPECT_EQ(protocol_.looks, 0);
  EXPECT_TRUE(waiting_->has_waiting());
  waiting_->OnRoutes();
  EXPECT_EQ(protocol_.looks, 1);
  EXPECT_FALSE(waiting_->has_waiting());
}

TEST_F(WaitingRequestsTest, ItLooksAgainInAWhileWhereRoutesChangeAllTheTime) {
  const auto wait = [this] {
    connection_->sharing.SetReturns(limits::kReturnsMax);
    waiting_->WaitReturned(connection_);
  };
  wait();
  waiting_->OnRoutes();
  EXPECT_EQ(protocol_.looks, 1);
  wait();
  for (int i = 0; i < 1000; ++i) waiting_->OnRoutes();
  EXPECT_EQ(protocol_.looks, 1);
  while (waiting_->has_waiting()) Turn();
  EXPECT_EQ(protocol_.looks, 2);
}

TEST_F(WaitingRequestsTest, ARequestOfABlockedOwnerLooksAtOnceHoweverOftenItHasComeBack) {
  connection_->sharing.SetReturns(limits::kReturnsMax);
  waiting_->WaitUnbegun(connection_);
  EXPECT_EQ(protocol_.looks, 0) << "the relay that has come back is still being taken apart";
  // The lane asks this where it does not look for other requests that wait.
  EXPECT_TRUE(waiting_->has_due());
  waiting_->Retry();
  EXPECT_EQ(protocol_.looks, 1);
  EXPECT_FALSE(waiting_->has_due());
  EXPECT_FALSE(waiting_->has_waiting());
  waiting_->WaitReturned(connection_);
  EXPECT_FALSE(waiting_->has_due());
  waiting_->Retry();
  EXPECT_EQ(protocol_.looks, 1);
}

TEST_F(WaitingRequestsTest, AConnectionThatHasGoneDoesNotWait) {
  waiting_->WaitReturned(connection_);
  transport_->Close(connection_, 0);
  EXPECT_FALSE(waiting_->has_waiting());
  waiting_->OnRoutes();
  EXPECT_EQ(protocol_.looks, 0);
}

TEST_F(WaitingRequestsTest, AClientThatLeavesCostsTheSameHoweverManyWait) {
  const auto ns_of_leaving = [this](size_t count) {
    std::vector<std::unique_ptr<Connection>> connections;
    for (size_t i = 0; i < count; ++i) {
      connections.push_back(std::make_unique<Connection>(-1, Addresses{}));
      waiting_->Wait(connections.back().get());
    }
    const ThreadWatch thread = WatchThisThread();
    const uint64_t since_ns = CpuNsOf(thread);
    // From both ends in turn, so that a search from either end would be long.
    for (size_t i = 0; i < count; ++i) {
      waiting_->OnDetached(connections[i % 2 == 0 ? i / 2 : count - 1 - i / 2].get());
    }
    EXPECT_FALSE(waiting_->has_waiting());
    return (CpuNsOf(thread) - since_ns) / count;
  };
  const uint64_t few_ns = ns_of_leaving(1000);
  // To look at each of the others takes 20 times as long and longer.
  EXPECT_LE(ns_of_leaving(20'000), few_ns * 8) << "with 1,000: " << few_ns << " ns";
}

}  // namespace
}  // namespace httpsys::engine
