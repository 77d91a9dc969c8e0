// Connections that change hands: acknowledged, declined, or taken back from whoever cannot answer.

#include "engine/peers/peer_links.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "sharing/meeting_place.h"
#include "support/descriptors.h"

namespace httpsys::engine {
namespace {

using peer::FrameType;
using sharing::Channel;

constexpr uint16_t kPort = 8080;

class Owner final : public PeerLinks::Owner {
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
  int begun = 0;
  int frees = 0;
  bool is_willing = true;
  uint16_t other_port = kPort;
};

// What a peer that is played by the test receives.
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
    before_ = test::OpenDescriptors();
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &guard_);
    EXPECT_EQ(sharing::ListenUnder(sharing::MemberName(kId), &named_), 0);
    sender_ = std::make_unique<PeerLinks>(&loop_, 1, &patience_, &sends_);
    receiver_ = std::make_unique<PeerLinks>(&loop_, kId, &receivers_patience_, &receives_);
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
    EXPECT_EQ(test::OpenDescriptors(), before_ + static_cast<int>(held));
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
  // Tests that run beside this one may tell every member of a doubt.
  int AcceptLink() const {
    for (;;) {
      pollfd watched{named_.fd, POLLIN, 0};
      EXPECT_EQ(poll(&watched, 1, 5000), 1);
      const int fd = accept4(named_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      sharing::Credentials who;
      const bool is_other = fd != -1 && sharing::ReadCredentials(fd, &who) &&
                            who.pid != static_cast<uint32_t>(getpid());
      if (!is_other) return fd;
      close(fd);
    }
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
  void CloseScript() {
    if (script_ != nullptr && !played_.is_broken) script_->Close();
    script_ = nullptr;
  }
  // Returns the client's end.
  int HandOver(const std::string& bytes = "", uint8_t hops = 0, uint32_t idle_ms = 0) {
    const std::array<int, 2> pair = test::SocketPair();
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

TEST_F(PeerLinksTest, WhoseAConnectionIsComesWithItAndThatHeWantsItBackLater) {
  Link();
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  HandedConnection lent;
  lent.fd = pair[0];
  lent.port = kPort;
  lent.home = 0x0123456789abcdef;
  sender_->HandOver(kId, std::move(lent));
  HandOver("not lent");
  sender_->Flush();
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 2; }));
  EXPECT_EQ(receives_.handed[0].home, 0x0123456789abcdefu);
  EXPECT_EQ(receives_.handed[1].home, 0u);
  EXPECT_TRUE(receives_.free_members.empty());
  sender_->TellFree();
  ASSERT_TRUE(Until([&] { return !receives_.free_members.empty(); }));
  EXPECT_EQ(receives_.free_members, std::vector<uint64_t>{1}) << "the sender";
  ASSERT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, WhoHasNotSaidWhoItIsIsNotFree) {
  ScriptToReceiver();
  script_->Send(FrameType::kFree, {});
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_TRUE(receives_.free_members.empty());
}

TEST_F(PeerLinksTest, ABlockedMemberTellsOfHasteBeforeWhatItPassesOn) {
  LinkToScript();
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver}));
  patience_.OnBlocked(uv_now(&loop_));
  HandOver("late");
  HandOver("late, too");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 3; }));
  EXPECT_EQ(played_.types,
            (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver, FrameType::kHaste,
                                    FrameType::kHandOver, FrameType::kHandOver}))
      << "once for all of them";
}

TEST_F(PeerLinksTest, HasteIsPassedOnBeforeTheConnectionsThatHaveWaited) {
  Link();
  patience_.OnBlocked(uv_now(&loop_));
  HandOver("late");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_TRUE(receivers_patience_.is_hasty());
  EXPECT_FALSE(receivers_patience_.TellsHaste(uv_now(&loop_)));
  ASSERT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, SomebodyWhoHasNotSaidWhoItIsIsNotInHaste) {
  ScriptToReceiver();
  script_->Send(FrameType::kHaste, {});
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_FALSE(receivers_patience_.is_hasty());
}

TEST_F(PeerLinksTest, WhoGetsSomethingFromABlockedMemberHearsOfItOnceAndWhenItHasBegun) {
  LinkToScript();
  sender_->SetBlocked(true);
  HandOver("late");
  HandOver("late, too");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  sender_->SetBlocked(false);
  sender_->SetBlocked(false);
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 3; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kBlocked,
                                                   FrameType::kHandOver, FrameType::kHandOver,
                                                   FrameType::kBegun, FrameType::kHandOver}));
}

TEST_F(PeerLinksTest, WhoGetsSomethingOverAnotherSocketHearsOfItOverItsLink) {
  LinkToScript();
  HandOver("in time");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  sender_->TellBlocked(kId);
  sender_->SetBlocked(true);
  sender_->TellBlocked(kId + 1);
  sender_->TellBlocked(kId);
  sender_->TellBlocked(kId);
  HandOver("late");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  EXPECT_EQ(played_.types, (std::vector<FrameType>{FrameType::kLink, FrameType::kHandOver,
                                                   FrameType::kBlocked, FrameType::kHandOver}));
}

TEST_F(PeerLinksTest, AMemberIsBlockedFromWhenItSaysSoUntilItHasBegunSomething) {
  Link();
  EXPECT_FALSE(receiver_->IsBlocked(1));
  sender_->SetBlocked(true);
  HandOver("late");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_TRUE(receiver_->IsBlocked(1));
  EXPECT_FALSE(receiver_->IsBlocked(2));
  EXPECT_EQ(receives_.begun, 0);
  sender_->SetBlocked(false);
  ASSERT_TRUE(Until([&] { return receives_.begun == 1; }));
  EXPECT_FALSE(receiver_->IsBlocked(1));
}

TEST_F(PeerLinksTest, ABlockedMemberThatHasGoneIsNotBlocked) {
  ScriptToReceiver();
  peer::Link hello;
  hello.id = 9;
  script_->Send(FrameType::kLink, peer::Encode(hello));
  script_->Send(FrameType::kBlocked, {});
  ASSERT_TRUE(Until([&] { return receiver_->IsBlocked(9); }));
  CloseScript();
  ASSERT_TRUE(Until([&] { return receives_.begun == 1; }));
  EXPECT_FALSE(receiver_->IsBlocked(9));
}

TEST_F(PeerLinksTest, SomebodyWhoHasNotSaidWhoItIsIsNotBlocked) {
  ScriptToReceiver();
  script_->Send(FrameType::kBlocked, {});
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_FALSE(receiver_->IsBlocked(0));
}

TEST_F(PeerLinksTest, ADoubtAboutACoordinatorIsPassedOn) {
  ScriptToReceiver();
  script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
  script_->Send(FrameType::kDoubt, peer::Encode(peer::Doubt{kPort}));
  script_->Send(FrameType::kDoubt, peer::Encode(peer::Doubt{0}));
  ASSERT_TRUE(Until([&] { return receives_.doubts.size() == 2; }));
  EXPECT_EQ(receives_.doubts, (std::vector<uint16_t>{kPort, 0}));
  EXPECT_FALSE(played_.is_broken);
}

TEST_F(PeerLinksTest, ADoubtOfSomebodyWhoHasNotSaidWhoItIsIsNone) {
  ScriptToReceiver();
  script_->Send(FrameType::kDoubt, peer::Encode(peer::Doubt{kPort}));
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_TRUE(receives_.doubts.empty());
}

TEST_F(PeerLinksTest, ADoubtThatNamesNoPortEndsTheLink) {
  for (const size_t bytes : {0U, 1U, 3U}) {
    played_.is_broken = false;
    ScriptToReceiver();
    script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
    script_->Send(FrameType::kDoubt, std::string(bytes, 'x'));
    EXPECT_TRUE(Until([&] { return played_.is_broken; })) << bytes;
  }
  EXPECT_TRUE(receives_.doubts.empty());
}

TEST_F(PeerLinksTest, AConnectionArrivesWithWhatWasReadOfItAndTheSenderLetsGo) {
  Link();
  const int client = HandOver("GET / HTTP/1.1\r\n", 3, 400);
  EXPECT_TRUE(sender_->HasUnacknowledged());
  ASSERT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
  ASSERT_EQ(receives_.handed.size(), 1u);
  const HandedConnection& handed = receives_.handed[0];
  EXPECT_EQ(handed.port, kPort);
  EXPECT_EQ(handed.hops, 3);
  EXPECT_EQ(handed.idle_ms, 400u);
  EXPECT_EQ(handed.bytes, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(send(client, "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(recv(handed.fd, &byte, 1, 0), 1);
  // The receiver's is the last one.
  close(handed.fd);
  receives_.handed.clear();
  EXPECT_EQ(recv(client, &byte, 1, 0), 0);
}

TEST_F(PeerLinksTest, OneLinkServesManyAndKeepsTheirOrder) {
  Link();
  for (int i = 0; i < 200; ++i) HandOver(std::to_string(i) + std::string(2000, 'x'));
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 200; }));
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(receives_.handed[i].bytes, std::to_string(i) + std::string(2000, 'x'));
  }
  EXPECT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
  EXPECT_TRUE(sends_.taken_back.empty());
}

TEST_F(PeerLinksTest, WhatIsHandedOverInOneTurnTravelsTogether) {
  LinkToScript();
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  constexpr size_t kCount = 100;
  for (size_t i = 0; i < kCount; ++i) {
    const int fd = i == 0 ? pair[0] : dup(pair[0]);
    sender_->HandOver(kId, {fd, kPort, 0, 0, std::string(i, 'x')});
  }
  sender_->Flush();
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == kCount; }));
  EXPECT_EQ(std::count(played_.types.begin(), played_.types.end(), FrameType::kHandOver), 2);
  Answer(FrameType::kTaken, kCount);
  EXPECT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, OfWhatTravelsTogetherEachPartMayBeDeclined) {
  Link();
  receives_.other_port = kPort + 1;
  for (const uint16_t port : {kPort, uint16_t{1}, static_cast<uint16_t>(kPort + 1)}) {
    const std::array<int, 2> pair = test::SocketPair();
    clients_.push_back(pair[1]);
    sender_->HandOver(kId, {pair[0], port, 0, 0, std::to_string(port)});
  }
  sender_->Flush();
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 1; }));
  EXPECT_EQ(sends_.taken_back[0].bytes, "1");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 2; }));
  EXPECT_EQ(receives_.handed[0].bytes, std::to_string(kPort));
  EXPECT_EQ(receives_.handed[1].bytes, std::to_string(kPort + 1));
  EXPECT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, WhatThePeerDeclinesComesBack) {
  Link();
  receives_.is_willing = false;
  HandOver("a");
  HandOver("b");
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 2; }));
  EXPECT_EQ(sends_.taken_back[0].bytes, "a");
  receives_.is_willing = true;
  HandOver("c");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_TRUE(Until([&] { return !sender_->HasUnacknowledged(); }));
}

TEST_F(PeerLinksTest, WhoRelaysHearsOfAnswersUpgradesAndRequestsThatComeBack) {
  Link();
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  HandedConnection relay;
  relay.fd = pair[0];
  relay.port = kPort;
  relay.origin = std::make_unique<RelayOrigin>();
  relay.origin->id = 7;
  sender_->HandOver(kId, std::move(relay));
  sender_->Flush();
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  RelayOrigin& origin = *receives_.handed[0].origin;
  origin.sent_bytes = 100;
  receiver_->SendDecided(origin, false);
  receiver_->SendAnswered(origin);
  receiver_->SendReturned(origin);
  ASSERT_TRUE(Until([&] { return !sends_.returned.empty(); }));
  EXPECT_EQ(sends_.returned[0], 7u);
  ASSERT_EQ(sends_.decisions.size(), 1u);
  EXPECT_EQ(sends_.decisions[0].id, 7u);
  EXPECT_EQ(sends_.decisions[0].is_upgraded, 0);
  ASSERT_EQ(sends_.answers.size(), 1u);
  EXPECT_EQ(sends_.answers[0].total, 100u);
}

class UnbegunRequestTest : public PeerLinksTest {
 protected:
  // A member of this version relays a request, which comes back because JavaScript is blocked.
  // Returns what the member is told then.
  std::vector<FrameType> Return(uint16_t version) {
    ScriptToReceiver();
    peer::Link hello;
    hello.newest = version;
    script_->Send(FrameType::kLink, peer::Encode(hello));
    const std::array<int, 2> pair = test::SocketPair();
    clients_.push_back(pair[1]);
    peer::Relay relay;
    relay.port = kPort;
    relay.id = 7;
    script_->Send(FrameType::kRelay, peer::Encode(relay), pair[0]);
    EXPECT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
    close(pair[0]);
    played_.types.clear();
    receiver_->SendUnbegun(*receives_.handed[0].origin);
    EXPECT_TRUE(Until([&] {
      return !played_.types.empty() && (played_.types.back() == FrameType::kUnbegun ||
                                        played_.types.back() == FrameType::kReturned);
    }));
    std::erase(played_.types, FrameType::kTaken);
    return played_.types;
  }
};

TEST_F(UnbegunRequestTest, AMemberIsToldThatItIsOnlyTheOwnerThatIsBlocked) {
  EXPECT_EQ(Return(peer::kProtocolUnbegun), std::vector<FrameType>{FrameType::kUnbegun});
}

TEST_F(UnbegunRequestTest, ItHearsFirstThatTheOwnerIsBlocked) {
  receiver_->SetBlocked(true);
  EXPECT_EQ(Return(peer::kProtocolUnbegun),
            (std::vector<FrameType>{FrameType::kBlocked, FrameType::kUnbegun}));
}

TEST_F(UnbegunRequestTest, AMemberOfAnEarlierVersionGetsItBackAllTheSame) {
  EXPECT_EQ(Return(peer::kProtocolUnbegun - 1), std::vector<FrameType>{FrameType::kReturned});
}

TEST_F(UnbegunRequestTest, WhoRelaysHearsOfIt) {
  Link();
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  HandedConnection relay;
  relay.fd = pair[0];
  relay.port = kPort;
  relay.origin = std::make_unique<RelayOrigin>();
  relay.origin->id = 7;
  sender_->HandOver(kId, std::move(relay));
  sender_->Flush();
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  receiver_->SetBlocked(true);
  receiver_->SendUnbegun(*receives_.handed[0].origin);
  ASSERT_TRUE(Until([&] { return !sends_.unbegun.empty(); }));
  EXPECT_EQ(sends_.unbegun, std::vector<uint32_t>{7});
  EXPECT_TRUE(sends_.returned.empty());
  EXPECT_TRUE(sender_->IsBlocked(kId));
  receiver_->SetBlocked(false);
  ASSERT_TRUE(Until([&] { return sends_.begun == 1; }));
  EXPECT_FALSE(sender_->IsBlocked(kId));
}

TEST_F(PeerLinksTest, NobodyUnderThatNameIsGone) {
  close(named_.fd);
  named_.fd = -1;
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kGone);
}

TEST_F(PeerLinksTest, APeerThatDiesBeforeItAcknowledgesLosesWhatItWasGiven) {
  LinkToScript();
  HandOver("a");
  HandOver("b");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  Answer(FrameType::kTaken, 1);
  CloseScript();
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 1; }));
  EXPECT_EQ(sends_.taken_back[0].bytes, "b");
  EXPECT_EQ(sends_.frees, 1);
}

TEST_F(PeerLinksTest, APeerThatDiesAfterItHasAcknowledgedKeepsThem) {
  LinkToScript();
  HandOver("a");
  HandOver("b");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  Answer(FrameType::kTaken, 2);
  CloseScript();
  ASSERT_TRUE(Until([&] { return sends_.frees == 1; }));
  EXPECT_TRUE(sends_.taken_back.empty());
  EXPECT_FALSE(sender_->HasUnacknowledged());
}

TEST_F(PeerLinksTest, ASilentPeerIsGivenUpAndCannotAcknowledgeAnyMore) {
  LinkToScript();
  HandOver("a");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 1; }, 2 * limits::kPeerAckMs));
  EXPECT_TRUE(played_.is_broken || !script_->Send(FrameType::kTaken, "1234"));
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
}

TEST_F(PeerLinksTest, APeerThatWasSilentIsGivenNothingBeforeItAnswers) {
  LinkToScript();
  HandOver("a");
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 1; }, 2 * limits::kPeerAckMs));
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kGone);
  ASSERT_TRUE(Until([&] { return played_.is_broken; }));
  // It is asked over a link of its own, once.
  receiver_->Accept(AcceptLink());
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kGone);
  const int frees = sends_.frees;
  ASSERT_TRUE(Until([&] { return sends_.frees == frees + 1; }));
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
  HandOver("b");
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
  EXPECT_EQ(receives_.handed[0].bytes, "b");
}

TEST_F(PeerLinksTest, WhatIsHandedToASilentPeerComesBackWithinTheTimeThatRequestsHave) {
  LinkToScript();
  const uint64_t since_ms = uv_hrtime() / 1'000'000;
  for (int i = 0; i < 10; ++i) HandOver("a");
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 10; }, 2 * limits::kPeerAckMs));
  EXPECT_GE(uv_hrtime() / 1'000'000 - since_ms + 100, limits::kPeerSilentMs);
  static_assert(limits::kPeerSilentMs < limits::kPeerAckMs);
}

TEST_F(PeerLinksTest, AReceiverWhoseSenderHasGivenUpDoesNotHandleTheConnection) {
  ScriptToReceiver();
  peer::Link hello;
  hello.id = kId;  // It lives: somebody listens under its name.
  script_->Send(FrameType::kLink, peer::Encode(hello));
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  script_->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}), pair[0]);
  script_->ShutDown();
  close(pair[0]);
  pollfd watched{pair[1], POLLIN, 0};
  ASSERT_TRUE(Until([&] { return poll(&watched, 1, 0) == 1; }));
  EXPECT_TRUE(receives_.handed.empty());
}

TEST_F(PeerLinksTest, AReceiverWhoseSenderHasDiedHandlesTheConnection) {
  ScriptToReceiver();
  peer::Link hello;
  hello.id = sharing::RandomId();
  script_->Send(FrameType::kLink, peer::Encode(hello));
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  script_->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}), pair[0]);
  script_->ShutDown();
  close(pair[0]);
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
}

TEST_F(PeerLinksTest, AFullLinkSaysSoAndWhenItIsFreeAgain) {
  LinkToScript();
  const std::array<int, 2> pair = test::SocketPair();
  for (size_t i = 0; i < limits::kPeerUnackedMax; ++i) {
    EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
    sender_->HandOver(kId, {dup(pair[0]), kPort, 0, 0, ""});
    sender_->Flush();
  }
  clients_.insert(clients_.end(), pair.begin(), pair.end());
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kFull);
  EXPECT_EQ(sends_.frees, 0);
  Answer(FrameType::kTaken, 1);
  ASSERT_TRUE(Until([&] { return sends_.frees == 1; }));
  EXPECT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
}

TEST_F(PeerLinksTest, WhatWasNotSentYetIsNobodyElsesToAcknowledge) {
  LinkToScript();
  const std::array<int, 2> pair = test::SocketPair();
  clients_.push_back(pair[1]);
  sender_->HandOver(kId, {pair[0], kPort, 0, 0, "a"});
  Answer(FrameType::kTaken, 1);
  Answer(FrameType::kDeclined, 1);
  sender_->ReadNow(kId);
  EXPECT_TRUE(sends_.taken_back.empty());
  sender_->Flush();
  EXPECT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  EXPECT_TRUE(sender_->HasUnacknowledged());
}

TEST_F(PeerLinksTest, AnswersThatMakeNoSenseChangeNothing) {
  LinkToScript();
  HandOver("a");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 1; }));
  Answer(FrameType::kTaken, 0);
  Answer(FrameType::kDeclined, 77);
  script_->Send(FrameType::kTaken, "x");
  script_->Send(FrameType::kState, "of a later protocol");
  Answer(FrameType::kDeclined, 1);
  ASSERT_TRUE(Until([&] { return sends_.taken_back.size() == 1; }));
  Answer(FrameType::kDeclined, 1);
  Answer(FrameType::kTaken, 1);
  HandOver("b");
  ASSERT_TRUE(Until([&] { return played_.hand_overs() == 2; }));
  EXPECT_EQ(sends_.taken_back.size(), 1u);
  EXPECT_TRUE(sender_->HasUnacknowledged());
}

// -- Peers that do not keep to the rules.

TEST_F(PeerLinksTest, WhoDoesNotSayWhoItIsMayHandNothingOver) {
  ScriptToReceiver();
  script_->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}), 0);
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_TRUE(receives_.handed.empty());
}

TEST_F(PeerLinksTest, WhoSpeaksALaterProtocolOnlyIsSentAway) {
  ScriptToReceiver();
  peer::Link hello;
  hello.oldest = hello.newest = peer::kProtocol + 1;
  script_->Send(FrameType::kLink, peer::Encode(hello));
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
}

TEST_F(PeerLinksTest, NonsenseLosesTheConnectionsThatCameWithIt) {
  ScriptToReceiver();
  script_->Send(FrameType::kLink, peer::Encode(peer::Link{1, 1, 1}));
  script_->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}), 0);
  script_->Send(FrameType::kHandOver, "short", 0);
  EXPECT_TRUE(Until([&] { return played_.is_broken; }));
  EXPECT_TRUE(receives_.handed.empty());
  EXPECT_EQ(played_.types, std::vector<FrameType>{}) << "none was acknowledged";
}

TEST_F(PeerLinksTest, AHandOverThatDoesNotHoldWhatItSaysIsNonsense) {
  const std::string sound = peer::Encode(peer::HandOver{1, kPort, 0, 0, 1}) + "x";
  for (const std::string& payload :
       {sound, sound + sound + "y",
        sound + peer::Encode(peer::HandOver{2, kPort, 0, 0, 2}) + "x"}) {
    ScriptToReceiver();
    script_->Send(FrameType::kLink, peer::Encode(peer::Link{1, 1, 1}));
    script_->Send(FrameType::kHandOver, payload, std::array<int, 2>{0, 0});
    EXPECT_TRUE(Until([&] { return played_.is_broken; }));
    EXPECT_TRUE(receives_.handed.empty());
    played_.is_broken = false;
  }
  played_.is_broken = true;
}

TEST_F(PeerLinksTest, AHandOverWithoutADescriptorIsDeclined) {
  ScriptToReceiver();
  script_->Send(FrameType::kLink, peer::Encode(peer::Link{1, 1, 1}));
  script_->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}));
  ASSERT_TRUE(Until([&] { return !played_.types.empty(); }));
  EXPECT_EQ(played_.types, std::vector<FrameType>{FrameType::kDeclined});
}

TEST_F(PeerLinksTest, WhoNeverReadsTheAnswersIsSentAway) {
  const int fd = sharing::ConnectTo(sharing::MemberName(kId));
  receiver_->Accept(AcceptLink());
  const auto frame = [](FrameType type, const std::string& payload) {
    return peer::FrameHeader(type, payload.size(), 0) + payload;
  };
  std::string bytes = frame(FrameType::kLink, peer::Encode(peer::Link{1, 1, 1}));
  for (int i = 0; i < 10; ++i) {
    bytes += frame(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}));
  }
  size_t at = 0;
  const size_t repeated = frame(FrameType::kLink, peer::Encode(peer::Link{1, 1, 1})).size();
  EXPECT_TRUE(Until([&] {
    for (;;) {
      const ssize_t sent = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent < 0) return errno == EPIPE || errno == ECONNRESET;
      at += static_cast<size_t>(sent);
      if (at == bytes.size()) at = repeated;
    }
  }));
  close(fd);
}

}  // namespace
}  // namespace httpsys::engine
