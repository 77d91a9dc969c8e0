// Coordinators that are stopped, their successors, and how they come back: one side is played by
// the test.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"
#include "peer/messages.h"
#include "sharing/meeting_place.h"
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

bool Becomes(const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class SuccessionTest : public test::MembersTest {
 protected:
  ~SuccessionTest() override { CloseNamed(&coordinator_name_); }
  // The test coordinates, Bob is a member that has /b/, and the coordinator has /played/.
  Raw BobJoins() {
    ListenAsCoordinator();
    EXPECT_EQ(ListenUnder(MemberName(coordinator_id_), &coordinator_name_), 0);
    Member& bob = Bob();
    RegistrationResult result;
    EXPECT_TRUE(bob.BeginRegister(port_, Wanted("/b/"), &result));
    Raw member = AcceptMember();
    uint64_t id = 0;
    Welcome(member, &id, coordinator_id_);
    peer::Register wanted;
    NextRegister(member, &wanted);
    member.Send(FrameType::kEntry, peer::Entry{id, 1, 1, 0, 0, "", Prefix("/b/")});
    member.Send(FrameType::kEntry,
                peer::Entry{coordinator_id_, 1, 1, 0, 0, "", Prefix("/played/")});
    member.Send(FrameType::kSync, peer::Sync{2});
    member.Send(FrameType::kRegistered, peer::Registered{wanted.token, 0, 0, "", 0, ""});
    EXPECT_TRUE(bob.TakeResult(&result));
    EXPECT_EQ(result.error, 0);
    for (const int fd : result.sockets) close(fd);
    return member;
  }
  bool IsTaken(uint32_t rank) const {
    const int fd = ConnectTo(PortName(port_, rank));
    if (fd >= 0) close(fd);
    return fd >= 0;
  }

  const uint64_t coordinator_id_ = RandomId();
  NamedSocket coordinator_name_;
};

TEST_F(SuccessionTest, AMemberSucceedsACoordinatorThatDoesNotAnswerANewcomer) {
  Raw member = BobJoins();
  const auto since = std::chrono::steady_clock::now();
  // She gives up after kCoordinatorMs by her own clock. That she is served sooner is decided by the
  // clock of the model: port_model_test.
  EXPECT_EQ(Register(Carol(), "/c/").error, 0);
  const auto took = std::chrono::steady_clock::now() - since;
  EXPECT_GE(took, std::chrono::milliseconds(limits::kDoubtMs + limits::kSilentMs));
  EXPECT_EQ(Register(*bob_, "/b2/").error, 0);
  // What the silent one has is nobody else's, after the reunion, too.
  EXPECT_EQ(Register(*carol_, "/played/").error, EADDRINUSE);
  std::this_thread::sleep_for(std::chrono::milliseconds(limits::kReunionMs));
  EXPECT_EQ(Register(*carol_, "/played/").error, EADDRINUSE);
  EXPECT_EQ(bob_->targets(port_), 4u);
  EXPECT_EQ(carol_->targets(port_), 4u);
  EXPECT_TRUE(IsTaken(1));
  PortReport state;
  EXPECT_EQ(QueryState(port_, 2000, &state), 0) << "asks the successor";
  CloseNamed(&coordinator_);
}

TEST_F(SuccessionTest, ASuccessorTakesTheNameOfThePortWhenTheOtherOneHasGone) {
  Raw member = BobJoins();
  EXPECT_EQ(Register(Carol(), "/c/").error, 0);
  ASSERT_TRUE(IsTaken(1));
  CloseNamed(&coordinator_);
  EXPECT_TRUE(Becomes([&] { return IsTaken(0) && !IsTaken(1); }));
  // It has died, as its name says.
  CloseNamed(&coordinator_name_);
  EXPECT_EQ(Register(*carol_, "/played/").error, 0);
  EXPECT_EQ(Register(*bob_, "/b2/").error, 0);
}

TEST_F(SuccessionTest, AMemberThatWaitsForItselfSucceedsTheCoordinator) {
  Raw member = BobJoins();
  EXPECT_EQ(Register(*bob_, "/b2/").error, 0);
  EXPECT_TRUE(IsTaken(1));
  CloseNamed(&coordinator_);
}

// Answers whoever asks whether the coordinator is stopped, until the result is there.
TEST_F(SuccessionTest, ACoordinatorThatAnswersIsNotSucceeded) {
  Raw member = BobJoins();
  RegistrationResult result;
  ASSERT_TRUE(Carol().BeginRegister(port_, Wanted("/c/"), &result));
  std::vector<Raw> visitors;
  int pings = 0;
  while (!carol_->TakeResult(&result, 0)) {
    pollfd watched{coordinator_.fd, POLLIN, 0};
    if (poll(&watched, 1, 10) != 1) continue;
    Raw visitor = AcceptMember();
    peer::Frame frame;
    char first[peer::kFrameHeaderBytes];
    ASSERT_EQ(recv(visitor.fd(), first, sizeof first, MSG_PEEK | MSG_WAITALL),
              static_cast<ssize_t>(sizeof first));
    if (static_cast<FrameType>(first[4]) == FrameType::kPing) {
      ++pings;
      visitor.Send(FrameType::kPong, peer::Pong{coordinator_id_});
    }
    visitors.push_back(std::move(visitor));
  }
  EXPECT_EQ(result.error, ETIMEDOUT);
  EXPECT_GE(pings, 1);
  EXPECT_FALSE(IsTaken(1));
  CloseNamed(&coordinator_);
}

TEST_F(SuccessionTest, ACoordinatorThatWasSucceededJoinsTheSuccessor) {
  Member& alice = Alice();
  Raw member = Visit();
  member.Send(FrameType::kHello, peer::Hello{.id = 77, .program = "played"});
  ASSERT_TRUE(member.Next(FrameType::kSync).has_value());
  ListenAsCoordinator(1);
  // What it is asked for, it does not decide any more.
  member.Send(FrameType::kRegister, Wanted("/c/"));
  bool has_come = false;
  // Before it comes, it looks whether somebody listens.
  for (int i = 0; i < 10 && !has_come; ++i) {
    has_come = AcceptMember().Next(FrameType::kHello).has_value();
  }
  EXPECT_TRUE(has_come);
  EXPECT_TRUE(member.IsEnded());
  EXPECT_FALSE(IsTaken(0));
  EXPECT_EQ(alice.targets(port_), 1u);
  CloseNamed(&coordinator_);
}

TEST_F(SuccessionTest, WhoeverAsksIsAnsweredByACoordinatorThatIsNotStopped) {
  Member& alice = Alice();
  Raw visitor = Visit();
  visitor.SendBytes(FrameType::kPing, "");
  const std::optional<std::string> answer = visitor.Next(FrameType::kPong);
  peer::Pong pong;
  ASSERT_TRUE(answer.has_value() && peer::Decode(*answer, &pong));
  EXPECT_EQ(pong.coordinator, alice.sharing().id());
}

TEST_F(SuccessionTest, AFounderThatFindsASuccessorJoinsIt) {
  ListenAsCoordinator(1);
  EXPECT_EQ(Bob().sharing().Meet(port_), static_cast<int>(Meeting::kTaken));
  EXPECT_FALSE(IsTaken(0));
  CloseNamed(&coordinator_);
}

}  // namespace
}  // namespace httpsys::sharing
