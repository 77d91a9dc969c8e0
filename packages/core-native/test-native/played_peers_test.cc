// Coordinators and visitors that do not keep to the rules, played by the test.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "sharing/shared_ports.h"
#include "sharing/state_query.h"
#include "support/members_fixture.h"
#include "support/played_coordinator.h"

namespace httpsys::sharing {
namespace {

using peer::FrameType;
using test::Member;
using test::NextRegister;
using test::Raw;
using test::Welcome;
using PlayedPeersTest = test::MembersTest;

TEST_F(PlayedPeersTest, ASilentCoordinatorIsWaitedForAsLongAsWasSaid) {
  ListenAsCoordinator();
  PortReport state;
  EXPECT_EQ(QueryState(port_, 50, &state), -ETIMEDOUT);
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, AnAnswerThatIsNotTheStateOfThePortIsRefused) {
  ListenAsCoordinator();
  PortReport other;
  other.port = static_cast<uint16_t>(port_ + 1);
  other.coordinator = 1;
  for (const std::string& answer :
       {std::string("x"), peer::Encode(PortReport()), peer::Encode(other)}) {
    int status = 0;
    std::thread asking([&] {
      PortReport state;
      status = QueryState(port_, 2000, &state);
    });
    Raw visitor = AcceptMember();
    visitor.SendBytes(FrameType::kState, answer);
    asking.join();
    EXPECT_EQ(status, -EPROTO);
  }
  close(coordinator_.fd);
}

// -- Coordinators that the test plays.

TEST_F(PlayedPeersTest, ASilentCoordinatorIsNamed) {
  ListenAsCoordinator();
  const RegistrationResult result = Register(Bob(), "/b/");
  EXPECT_EQ(result.error, ETIMEDOUT);
  EXPECT_EQ(result.pid, static_cast<uint32_t>(getpid()));
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, ACoordinatorOfAnotherProtocolIsNamed) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  Raw member = AcceptMember();
  ASSERT_TRUE(member.Next(FrameType::kHello).has_value());
  member.Send(FrameType::kRefusal, peer::Refusal{1, 5, 6});
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.error, EPROTO);
  EXPECT_EQ(result.peer_oldest, 5);
  EXPECT_EQ(result.peer_newest, 6);
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, ACoordinatorWithoutRoomForTheMemberIsNamed) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  Raw member = AcceptMember();
  ASSERT_TRUE(member.Next(FrameType::kHello).has_value());
  peer::Refusal refusal;
  refusal.reason = static_cast<uint8_t>(peer::RefusalReason::kFull);
  member.Send(FrameType::kRefusal, refusal);
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.error, ENOSPC);
  EXPECT_EQ(result.reason, ConflictReason::kMembers);
  EXPECT_EQ(result.pid, static_cast<uint32_t>(getpid()));
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, ACoordinatorThatSpeaksNonsenseIsTriedAgainForASecond) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  for (int i = 0; i < 3; ++i) {
    Raw member = AcceptMember();
    ASSERT_TRUE(member.Next(FrameType::kHello).has_value());
    member.SendBytes(FrameType::kWelcome, "?");
    EXPECT_TRUE(member.IsEnded());
  }
  close(coordinator_.fd);
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.error, 0) << "it has the place itself now";
  for (const int fd : result.sockets) close(fd);
}

// Welcomes a member and grants what it asks for first.
void Grant(Raw& member, Member& bob, const std::string& prefix) {
  uint64_t id = 0;
  Welcome(member, &id);
  peer::Register wanted;
  NextRegister(member, &wanted);
  member.Send(FrameType::kEntry, peer::Entry{id, 1, 1, 0, 0, "", prefix});
  member.Send(FrameType::kRegistered, peer::Registered{wanted.token, 0, 0, "", 0, ""});
  RegistrationResult result;
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.error, 0);
  for (const int fd : result.sockets) close(fd);
}

TEST_F(PlayedPeersTest, AMemberWhoseStateWasLostHalfwayKnowsItsOwnPrefixes) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  {
    Raw member = AcceptMember();
    Grant(member, bob, Prefix("/b/"));
  }
  {
    // It comes back, and the coordinator dies before it has told anything.
    Raw member = AcceptMember();
    ASSERT_TRUE(member.Next(FrameType::kHello).has_value());
    member.Send(FrameType::kWelcome, peer::Welcome{peer::kProtocol, 99});
    // Bob has read that when he answers the next one.
    member.SendBytes(FrameType::kStateQuery, "");
    ASSERT_TRUE(member.Next(FrameType::kState).has_value());
    close(coordinator_.fd);
  }
  EXPECT_EQ(Register(Carol(), "/b/").error, EADDRINUSE);
  EXPECT_EQ(Register(*carol_, "/c/").error, 0);
  EXPECT_EQ(bob.targets(port_), 2u);
}

TEST_F(PlayedPeersTest, ACoordinatorThatRefusesAMemberOfItsOwnIsLeft) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  {
    Raw member = AcceptMember();
    Grant(member, bob, Prefix("/b/"));
    close(coordinator_.fd);
    member.Send(FrameType::kRefusal, peer::Refusal{1, 5, 6});
    EXPECT_TRUE(member.IsEnded());
  }
  // Bob has the place now, and what he registers goes nowhere else. Nobody else has to confirm it,
  // so that it is granted before Bob's own thread has the routes.
  EXPECT_EQ(Register(bob, "/c/").error, 0);
  EXPECT_TRUE(bob.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 2; }));
}

TEST_F(PlayedPeersTest, WhatIsNotGrantedAgainIsTold) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  {
    Raw member = AcceptMember();
    Grant(member, bob, Prefix("/b/"));
  }
  Raw member = AcceptMember();
  uint64_t id = 0;
  Welcome(member, &id);
  peer::Register again;
  NextRegister(member, &again);
  EXPECT_EQ(again.again, peer::kAgain);
  member.Send(FrameType::kRegistered,
              peer::Registered{0, EADDRINUSE, 4711, Prefix("/b/"), 200, "q"});
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.token, 0u);
  EXPECT_EQ(result.error, EADDRINUSE);
  EXPECT_EQ(result.pid, 4711u);
  EXPECT_EQ(result.prefix, Prefix("/b/"));
  EXPECT_EQ(result.queue, "q");
  EXPECT_EQ(result.reason, ConflictReason::kNone) << "of a later protocol";
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, WhyARegistrationIsRefusedIsTold) {
  Alice();
  RegistrationResult result = Register(Bob(), "/a/");
  EXPECT_EQ(result.error, EADDRINUSE);
  EXPECT_EQ(result.reason, ConflictReason::kPrefix);
  EXPECT_EQ(result.queue, "");
  // Of the coordinator's own wishes as well.
  EXPECT_EQ(Register(*bob_, "/b/").error, 0);
  result = alice_->Register(port_, 2, {Prefix("/b/")});
  EXPECT_EQ(result.error, EADDRINUSE);
  EXPECT_EQ(result.reason, ConflictReason::kPrefix);
}

// -- Terms, which members of protocol 1 do not know.

peer::Register WantedWithTerms(uint16_t port, const char* path, char terms,
                               const std::string& host = "*") {
  peer::Register wanted;
  wanted.token = 1;
  wanted.server_id = 1;
  wanted.prefixes.push_back({1, "https://" + host + ":" + std::to_string(port) + path,
                             std::string(terms == 0 ? 0 : peer::kTermsBytes, terms)});
  return wanted;
}

TEST_F(PlayedPeersTest, AMemberTellsItsTermsAndHearsThatOthersAreInTheWay) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, WantedWithTerms(port_, "/b/", 'x'), &result));
  Raw member = AcceptMember();
  uint64_t id = 0;
  Welcome(member, &id);
  peer::Register wanted;
  NextRegister(member, &wanted);
  EXPECT_EQ(wanted.prefixes[0].terms, std::string(peer::kTermsBytes, 'x'));
  member.Send(FrameType::kRegistered,
              peer::Registered{wanted.token, EADDRINUSE, 77, "https://*:1/",
                               static_cast<uint8_t>(ConflictReason::kTerms), ""});
  ASSERT_TRUE(bob.TakeResult(&result));
  EXPECT_EQ(result.error, EADDRINUSE);
  EXPECT_EQ(result.reason, ConflictReason::kTerms);
  close(coordinator_.fd);
}

TEST_F(PlayedPeersTest, OnlyAMemberWithTheSameTermsMayShareTheSocket) {
  alice_ = std::make_unique<Member>();
  ASSERT_EQ(alice_->sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
  ASSERT_EQ(alice_->sharing().Contribute(port_, 1, holder_.fd()), 0);
  RegistrationResult result;
  ASSERT_FALSE(alice_->BeginRegister(port_, WantedWithTerms(port_, "/a/", 'x'), &result));
  ASSERT_EQ(result.error, 0);
  for (const int fd : result.sockets) close(fd);
  Raw visitor = Visit();
  visitor.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "played"});
  const std::optional<std::string> payload = visitor.Next(FrameType::kEntry);
  peer::Entry entry;
  ASSERT_TRUE(payload.has_value() && peer::Decode(*payload, &entry));
  EXPECT_EQ(entry.terms, std::string(peer::kTermsBytes, 'x'));
  const auto ask = [&](const char* path, char terms) {
    visitor.Send(FrameType::kRegister, WantedWithTerms(port_, path, terms));
    peer::Registered answer;
    const std::optional<std::string> next = visitor.Next(FrameType::kRegistered);
    EXPECT_TRUE(next.has_value() && peer::Decode(*next, &answer));
    return answer;
  };
  const peer::Registered refused = ask("/b/", 0);
  EXPECT_EQ(refused.error, static_cast<uint32_t>(EADDRINUSE));
  EXPECT_EQ(refused.reason, static_cast<uint8_t>(ConflictReason::kTerms));
  EXPECT_EQ(refused.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(ask("/b/", 'y').error, static_cast<uint32_t>(EADDRINUSE));
  EXPECT_EQ(ask("/b/", 'x').error, 0u);
}

// A server changes its rules: others hear of it, unless one of them is in the way.
TEST_F(PlayedPeersTest, TermsThatChangeAreComparedAndTold) {
  alice_ = std::make_unique<Member>();
  ASSERT_EQ(alice_->sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
  ASSERT_EQ(alice_->sharing().Contribute(port_, 1, holder_.fd()), 0);
  const auto terms_of = [](char terms) {
    return [terms](const std::string&) { return std::string(peer::kTermsBytes, terms); };
  };
  const auto add = [&](Member& member, uint32_t server_id, const char* path, char terms,
                       const char* host = "*") {
    peer::Register wanted = WantedWithTerms(port_, path, terms, host);
    wanted.server_id = server_id;
    wanted.token = 10 + server_id;
    RegistrationResult result;
    if (member.BeginRegister(port_, wanted, &result)) EXPECT_TRUE(member.TakeResult(&result));
    for (const int fd : result.sockets) close(fd);
    return result;
  };
  EXPECT_EQ(add(*alice_, 2, "/a/", 'x').error, 0);
  Bob();
  EXPECT_EQ(add(*bob_, 1, "/b/", 'x').error, 0);
  RegistrationResult conflict;
  for (Member* member : {alice_.get(), bob_.get()}) {
    const uint32_t server_id = member == alice_.get() ? 2 : 1;
    EXPECT_TRUE(member->sharing().ChangeTerms(server_id, terms_of('x'), &conflict));
    EXPECT_FALSE(member->sharing().ChangeTerms(server_id, terms_of('y'), &conflict));
    EXPECT_EQ(conflict.reason, ConflictReason::kTerms);
    const char* other = server_id == 2 ? "/b/" : "/a/";
    EXPECT_EQ(conflict.prefix, "https://*:" + std::to_string(port_) + other);
    EXPECT_EQ(conflict.pid, static_cast<uint32_t>(getpid()));
  }
  bob_->Unregister(port_, 1);
  EXPECT_TRUE(alice_->RoutesBecome(
      port_, [](const PortRoutes& routes) { return routes.target_count() == 1; }));
  // What the coordinator changes counts for the next wish of others.
  EXPECT_TRUE(alice_->sharing().ChangeTerms(2, terms_of('y'), &conflict));
  Carol();
  EXPECT_EQ(add(*carol_, 3, "/c/", 'x').reason, ConflictReason::kTerms);
  EXPECT_EQ(add(*carol_, 4, "/c/", 'y').error, 0);
  EXPECT_FALSE(carol_->sharing().ChangeTerms(4, terms_of('z'), &conflict));
  // What a member changes comes to the coordinator before its own next wish.
  EXPECT_EQ(add(*carol_, 5, "/", 'x', "c.test").error, 0);
  EXPECT_TRUE(carol_->sharing().ChangeTerms(5, terms_of('z'), &conflict));
  EXPECT_EQ(add(*carol_, 6, "/6/", 'z', "c.test").error, 0);
  EXPECT_EQ(add(*alice_, 7, "/7/", 'x', "c.test").reason, ConflictReason::kTerms);
  EXPECT_EQ(add(*alice_, 8, "/8/", 'z', "c.test").error, 0);
}

// As many as there can be, played but for the coordinator and the last one.
TEST_F(PlayedPeersTest, AListeningSocketTooManyIsToldSo) {
  Alice();
  std::vector<int> sockets;
  int shared = 1;
  for (int i = 1; i <= static_cast<int>(limits::kSharedSocketsMax); ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + static_cast<uint32_t>(i));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << i;
    ASSERT_EQ(listen(fd, 1), 0);
    sockets.push_back(fd);
    const int status = alice_->sharing().Contribute(port_, 1, fd);
    // A second time it is known.
    EXPECT_EQ(alice_->sharing().Contribute(port_, 1, fd), status);
    if (shared < static_cast<int>(limits::kSharedSocketsMax)) {
      EXPECT_EQ(status, 0) << i;
      ++shared;
    } else {
      EXPECT_EQ(status, -ENOSPC) << i;
    }
  }
  for (const int fd : sockets) close(fd);
}

TEST_F(PlayedPeersTest, AnErrorThatDoesNotExistIsNonsense) {
  ListenAsCoordinator();
  Member& bob = Bob();
  RegistrationResult result;
  ASSERT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
  Raw member = AcceptMember();
  uint64_t id = 0;
  Welcome(member, &id);
  ASSERT_TRUE(member.Next(FrameType::kRegister).has_value());
  member.Send(FrameType::kRegistered, peer::Registered{1, UINT32_MAX, 0, "", 0, ""});
  EXPECT_TRUE(member.IsEnded());
  close(coordinator_.fd);
}

// -- Visitors that the test plays.

TEST_F(PlayedPeersTest, AVisitorOfAnotherProtocolIsToldOurs) {
  Alice();
  for (const uint16_t other : {peer::kProtocolOldest - 1, peer::kProtocol + 1}) {
    Raw visitor = Visit();
    visitor.Send(FrameType::kHello, peer::Hello{other, other, 77, 0, "other"});
    peer::Refusal refusal;
    const std::optional<std::string> payload = visitor.Next(FrameType::kRefusal);
    ASSERT_TRUE(payload.has_value() && peer::Decode(*payload, &refusal)) << other;
    EXPECT_EQ(refusal.oldest, peer::kProtocolOldest);
    EXPECT_EQ(refusal.newest, peer::kProtocol);
  }
}

TEST_F(PlayedPeersTest, AVisitorOfLaterProtocolsTooIsSpokenToInOurs) {
  Alice();
  Raw visitor = Visit();
  visitor.Send(FrameType::kHello,
               peer::Hello{peer::kProtocol, peer::kProtocol + 1, 77, 0, "later"});
  peer::Welcome welcome;
  const std::optional<std::string> payload = visitor.Next(FrameType::kWelcome);
  ASSERT_TRUE(payload.has_value() && peer::Decode(*payload, &welcome));
  EXPECT_EQ(welcome.protocol, peer::kProtocol);
}

TEST_F(PlayedPeersTest, NonsenseEndsTheConnectionAndNothingElse) {
  Alice();
  const peer::Hello hello{.id = 77, .program = "played"};
  {
    Raw visitor = Visit();
    visitor.SendBytes(FrameType::kHello, "?");
    EXPECT_TRUE(visitor.IsEnded());
  }
  {
    Raw visitor = Visit();
    visitor.Send(FrameType::kRegister, Wanted("/x/"));
    EXPECT_TRUE(visitor.IsEnded()) << "without hello";
  }
  {
    Raw visitor = Visit();
    visitor.Send(FrameType::kHello, hello);
    visitor.Send(FrameType::kHello, hello);
    EXPECT_TRUE(visitor.IsEnded()) << "twice";
  }
  {
    Raw visitor = Visit();
    visitor.SendBytes(FrameType::kState, std::string(3, '\xff'));
    EXPECT_TRUE(visitor.IsEnded());
  }
  EXPECT_EQ(Register(Bob(), "/b/").error, 0);
}

TEST_F(PlayedPeersTest, TwoMembersCannotHaveTheSameId) {
  Member& alice = Alice();
  Raw first = Visit();
  first.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "first"});
  ASSERT_TRUE(first.Next(FrameType::kSync).has_value());
  Raw second = Visit();
  second.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "second"});
  EXPECT_TRUE(second.IsEnded());
  Raw third = Visit();
  third.Send(FrameType::kHello, peer::Hello{.id = alice.sharing().id(), .program = "third"});
  EXPECT_TRUE(third.IsEnded());
}

TEST_F(PlayedPeersTest, AMemberWhoseReportCannotBeReadIsLeftOut) {
  Alice();
  Raw visitor = Visit();
  visitor.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "played"});
  ASSERT_TRUE(visitor.Next(FrameType::kSync).has_value());
  PortReport state;
  int status = -1;
  std::thread asking([&] { status = QueryState(port_, 2000, &state); });
  EXPECT_TRUE(visitor.Next(FrameType::kStateQuery).has_value());
  visitor.SendBytes(FrameType::kState, "x");
  asking.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(state.members.size(), 1u);
}

TEST_F(PlayedPeersTest, AMemberThatConfirmsNothingDelaysOthersForAMomentOnly) {
  Alice();
  Raw silent = Visit();
  silent.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "silent"});
  ASSERT_TRUE(silent.Next(FrameType::kSync).has_value());
  EXPECT_EQ(Register(Bob(), "/b/").error, 0);
  PortReport state;
  EXPECT_EQ(QueryState(port_, 2000, &state), 0) << "nor does it keep the state back";
}

TEST_F(PlayedPeersTest, WhatIsNoListeningSocketOfThePortIsNotAcceptedFrom) {
  Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  const int accepts = bob.accepts();
  const std::array<int, 2> pair = test::SocketPair();
  Raw member = Visit();
  member.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "played"});
  ASSERT_TRUE(member.Next(FrameType::kSync).has_value());
  const std::string bytes = peer::FrameHeader(FrameType::kSocket, 4, 1) + std::string(4, '\0');
  iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &pair[0], sizeof(int));
  ASSERT_EQ(sendmsg(member.fd(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  close(pair[0]);
  // Alice's was the last one.
  pollfd watched{pair[1], POLLIN, 0};
  EXPECT_EQ(poll(&watched, 1, 5000), 1);
  close(pair[1]);
  EXPECT_EQ(Register(bob, "/c/").error, 0);
  EXPECT_EQ(bob.accepts(), accepts);
}

TEST_F(PlayedPeersTest, WhoAsksWithoutReadingTheAnswersIsSentAway) {
  // Of a member with many prefixes, few answers are as much as a peer may leave unread.
  std::vector<std::string> prefixes;
  for (int i = 0; i < 200; ++i) prefixes.push_back(Prefix("/") + std::to_string(i) + "/");
  EXPECT_EQ(Alice().Register(port_, 2, prefixes).error, 0);
  Raw visitor = Visit();
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += peer::FrameHeader(FrameType::kStateQuery, 0, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int error = 0;
  while (error == 0 && std::chrono::steady_clock::now() < deadline) {
    pollfd watched{visitor.fd(), POLLOUT, 0};
    poll(&watched, 1, 1000);
    if (send(visitor.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        errno != EAGAIN) {
      error = errno;
    }
  }
  EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << error;
}

TEST_F(PlayedPeersTest, AVisitorWhoSaysNothingIsSentAway) {
  Alice();
  Raw visitor = Visit();
  EXPECT_TRUE(visitor.IsEnded());
}

}  // namespace
}  // namespace httpsys::sharing
