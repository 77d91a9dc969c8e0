#include "engine/peers/peer_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "support/peer_links_fixture.h"

namespace httpsys::engine {
namespace {

using peer::FrameType;
using test::kPort;
using test::PeerLinksTest;

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
  RelayOrigin& origin = HandOverRelay();
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
  EXPECT_EQ(sends_.cut, std::vector<uint64_t>{kId});
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
  const std::string message = peer::Encode(peer::HandOver{1, kPort, 0, 0, 0});
  // The sender lives: somebody listens under its name.
  const int client = ScriptHandsOver(kId, FrameType::kHandOver, message);
  pollfd watched{client, POLLIN, 0};
  ASSERT_TRUE(Until([&] { return poll(&watched, 1, 0) == 1; }));
  EXPECT_TRUE(receives_.handed.empty());
}

TEST_F(PeerLinksTest, AReceiverWhoseSenderHasDiedHandlesTheConnection) {
  const std::string message = peer::Encode(peer::HandOver{1, kPort, 0, 0, 0});
  ScriptHandsOver(sharing::RandomId(), FrameType::kHandOver, message);
  ASSERT_TRUE(Until([&] { return receives_.handed.size() == 1; }));
}

// A receiver that was stopped reads the link only after its sender has taken back what was on it,
// and has died.
TEST_F(PeerLinksTest, AReceiverDoesNotHandleWhatItsSenderHasTakenBackBeforeItDied) {
  ASSERT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
  HandOver("POST / HTTP/1.1\r\n\r\n");
  const int unread = AcceptLink();
  shutdown(unread, SHUT_WR);
  sender_->ReadNow(kId);
  ASSERT_EQ(sends_.taken_back.size(), 1u);
  receiver_->Accept(unread);
  ASSERT_TRUE(receiver_->HasLink(1));
  ASSERT_TRUE(sharing::IsGone(1)) << "nobody listens under the name of the sender";
  ASSERT_TRUE(Until([&] { return !receiver_->HasLink(1); }));
  EXPECT_TRUE(receives_.handed.empty());
}

TEST_F(PeerLinksTest, OfSeveralHandOversOfAConnectionOnlyTheOneThatWasNotTakenBackCounts) {
  std::array<int, 3> links{};
  for (int& link : links) {
    ASSERT_EQ(sender_->Prepare(kId), PeerLinks::State::kReady);
    link = AcceptLink();
    if (sends_.taken_back.empty()) {
      HandOver("POST / HTTP/1.1\r\n\r\n");
    } else {
      sender_->HandOver(kId, std::move(sends_.taken_back.back()));
      sends_.taken_back.clear();
      sender_->Flush();
    }
    if (&link == &links.back()) break;
    shutdown(link, SHUT_WR);
    sender_->ReadNow(kId);
    ASSERT_EQ(sends_.taken_back.size(), 1u);
  }
  // The sender dies, and the receiver, which was stopped, reads all of its links.
  sender_->Close();
  sender_ = std::make_unique<PeerLinks>(&loop_, 2, &patience_, &sends_, &sends_);
  for (uint64_t number = 1; number <= links.size(); ++number) {
    receiver_->Accept(links[number - 1]);
    ASSERT_TRUE(Until([&] { return !receiver_->HasLink(number); }));
    EXPECT_EQ(receives_.handed.size(), number == links.size() ? 1u : 0u);
  }
}

TEST_F(PeerLinksTest, ARelayedRequestWhoseSenderHasDiedIsNotHandled) {
  peer::Relay relay;
  relay.sequence = 1;
  relay.port = kPort;
  ScriptHandsOver(sharing::RandomId(), FrameType::kRelay, peer::Encode(relay));
  ASSERT_TRUE(Until([&] { return !receiver_->HasLink(1); }));
  EXPECT_TRUE(receives_.handed.empty());
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
  script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
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
    script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
    script_->Send(FrameType::kHandOver, payload, std::array<int, 2>{0, 0});
    EXPECT_TRUE(Until([&] { return played_.is_broken; }));
    EXPECT_TRUE(receives_.handed.empty());
    played_.is_broken = false;
  }
  played_.is_broken = true;
}

TEST_F(PeerLinksTest, AHandOverWithoutADescriptorIsDeclined) {
  ScriptToReceiver();
  script_->Send(FrameType::kLink, peer::Encode(peer::Link{}));
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
  std::string bytes = frame(FrameType::kLink, peer::Encode(peer::Link{}));
  for (int i = 0; i < 10; ++i) {
    bytes += frame(FrameType::kHandOver, peer::Encode(peer::HandOver{1, kPort, 0, 0, 0}));
  }
  size_t at = 0;
  const size_t repeated = frame(FrameType::kLink, peer::Encode(peer::Link{})).size();
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
