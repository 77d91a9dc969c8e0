#pragma once
// Two lanes' links to each other, and to a peer that is played.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "engine/peers/peer_links.h"
#include "sharing/meeting_place.h"
#include "support/descriptors.h"
#include "support/own_links.h"

namespace httpsys::test {

using engine::HandedConnection;
using engine::LanePatience;
using engine::PeerLinks;
using engine::RelayOrigin;
using peer::FrameType;
using sharing::Channel;

inline constexpr uint16_t kPort = 8080;

class Owner final : public PeerLinks::Owner, public PeerLinks::RelayOwner {
 public:
  ~Owner() {
    for (auto* list : {&handed, &taken_back}) {
      for (const HandedConnection& connection : *list) close(connection.fd);
    }
  }
  bool CanTake(uint16_t port) const override {
    return is_willing && (port == kPort || port == other_port);
  }
  void OnHandedOver(HandedConnection connection) override {
    handed.push_back(std::move(connection));
  }
  void OnTakenBack(HandedConnection connection) override {
    taken_back.push_back(std::move(connection));
  }
  void OnAnswered(const peer::Answered& answer) override { answers.push_back(answer); }
  void OnDecided(const peer::Decided& decision) override { decisions.push_back(decision); }
  void OnReturned(const peer::Returned& request, bool is_blocked) override {
    (is_blocked ? unbegun : returned).push_back(request.id);
  }
  void OnEnded(const peer::Ended& end) override { ends.push_back(end.id); }
  void OnDoubt(uint16_t port) override { doubts.push_back(port); }
  void OnFree(uint64_t member, bool wants_back) override {
    if (wants_back) {
      free_members.push_back(member);
    } else {
      ++begun;
    }
  }
  void OnLinkCut(uint64_t member) override { cut.push_back(member); }
  void OnLinkFree() override { ++frees; }

  std::vector<HandedConnection> handed;
  std::vector<HandedConnection> taken_back;
  std::vector<peer::Answered> answers;
  std::vector<peer::Decided> decisions;
  std::vector<uint32_t> returned;
  std::vector<uint32_t> unbegun;
  std::vector<uint32_t> ends;
  std::vector<uint16_t> doubts;
  std::vector<uint64_t> free_members;
  std::vector<uint64_t> cut;
  int begun = 0;
  int frees = 0;
  bool is_willing = true;
  uint16_t other_port = kPort;
};

// Collects the frames that a peer played by the test receives.
class Script final : public Channel::Handler {
 public:
  ~Script() {
    for (const int fd : fds) close(fd);
  }
  void OnFrame(Channel*, const peer::Frame& frame, std::span<const int> with) override {
    fds.insert(fds.end(), with.begin(), with.end());
    types.push_back(frame.type);
  }
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override {
    is_broken = true;
    channel->Close();
  }
  size_t hand_overs() const { return fds.size(); }

  std::vector<FrameType> types;
  std::vector<int> fds;
  bool is_broken = false;
};

class PeerLinksTest : public testing::Test {
 protected:
  PeerLinksTest() {
    before_ = OpenDescriptors();
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &guard_);
    EXPECT_EQ(sharing::ListenUnder(sharing::MemberName(kId), &named_), 0);
    sender_ = std::make_unique<PeerLinks>(&loop_, 1, &patience_, &sends_, &sends_);
    receiver_ =
        std::make_unique<PeerLinks>(&loop_, kId, &receivers_patience_, &receives_, &receives_);
  }
  ~PeerLinksTest() override {
    sender_->Close();
    receiver_->Close();
    CloseScript();
    uv_close(reinterpret_cast<uv_handle_t*>(&guard_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    if (named_.fd != -1) close(named_.fd);
    for (const int fd : clients_) close(fd);
    size_t held = played_.fds.size();
    held += sends_.handed.size() + sends_.taken_back.size();
    held += receives_.handed.size() + receives_.taken_back.size();
    EXPECT_EQ(OpenDescriptors(), before_ + static_cast<int>(held));
  }
  bool Until(const std::function<bool()>& is_so, uint64_t ms = 5000) {
    bool is_late = false;
    guard_.data = &is_late;
    uv_timer_start(
        &guard_, [](uv_timer_t* timer) { *static_cast<bool*>(timer->data) = true; }, ms, 0);
    while (!is_so() && !is_late) uv_run(&loop_, UV_RUN_ONCE);
    uv_timer_stop(&guard_);
    return is_so();
  }
  int AcceptLink() const {
    const int fd = test::AcceptOwnLink(named_.fd);
    EXPECT_NE(fd, -1);
    return fd;
  }
  // The link ends at the receiver.
  void Link() {
    ASSERT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
    receiver_->Accept(AcceptLink());
  }
  // The link ends at the test, which answers as it likes.
  void LinkToScript() {
    ASSERT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
    script_ = new Channel(&loop_, AcceptLink(), &played_);
    ASSERT_EQ(script_->Start(), 0);
  }
  // The test speaks to the receiver.
  void ScriptToReceiver() {
    script_ = new Channel(&loop_, sharing::ConnectTo(sharing::MemberName(kId)), &played_);
    ASSERT_EQ(script_->Start(), 0);
    receiver_->Accept(AcceptLink());
  }
  // A member that the test plays hands a connection over to the receiver, and ends the link.
  // Returns the client's end.
  int ScriptHandsOver(uint64_t member, FrameType type, const std::string& message) {
    ScriptToReceiver();
    peer::Link hello;
    hello.id = member;
    script_->Send(FrameType::kLink, peer::Encode(hello));
    const std::array<int, 2> pair = SocketPair();
    clients_.push_back(pair[1]);
    script_->Send(type, message, pair[0]);
    script_->ShutDown();
    close(pair[0]);
    return pair[1];
  }
  void CloseScript() {
    if (script_ != nullptr && !played_.is_broken) script_->Close();
    script_ = nullptr;
  }
  // Hands over a relay, whose id is 7. Returns what the receiver has of it.
  RelayOrigin& HandOverRelay() {
    const std::array<int, 2> pair = SocketPair();
    clients_.push_back(pair[1]);
    HandedConnection relay;
    relay.fd = pair[0];
    relay.port = kPort;
    relay.origin = std::make_unique<RelayOrigin>();
    relay.origin->id = 7;
    sender_->HandOver(kId, std::move(relay));
    sender_->Flush();
    EXPECT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
    return *receives_.handed.at(0).origin;
  }
  // Returns the client's end.
  int HandOver(const std::string& bytes = "", uint8_t hops = 0, uint32_t idle_ms = 0) {
    const std::array<int, 2> pair = SocketPair();
    clients_.push_back(pair[1]);
    sender_->HandOver(kId, {pair[0], kPort, hops, idle_ms, bytes});
    sender_->Flush();
    return pair[1];
  }
  void Answer(FrameType type, uint32_t sequence) {
    EXPECT_TRUE(script_->Send(type, peer::Encode(peer::Sequence{sequence})));
  }

  const uint64_t kId = sharing::RandomId();
  uv_loop_t loop_;
  uv_timer_t guard_;
  sharing::NamedSocket named_;
  LanePatience patience_{[](bool) {}, [] {}};  // The sender's.
  LanePatience receivers_patience_{[](bool) {}, [] {}};
  Owner sends_;
  Owner receives_;
  Script played_;
  std::unique_ptr<PeerLinks> sender_;
  std::unique_ptr<PeerLinks> receiver_;
  Channel* script_ = nullptr;
  std::vector<int> clients_;
  int before_ = 0;
};

}  // namespace httpsys::test
