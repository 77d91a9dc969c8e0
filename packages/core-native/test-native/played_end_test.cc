// A coordinator, played by the test, that ends while a member takes prefixes back.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "sharing/shared_ports.h"
#include "support/members_fixture.h"
#include "support/played_coordinator.h"

namespace httpsys::sharing {
namespace {

using peer::FrameType;
using test::Member;
using test::NextRegister;
using test::Raw;
using test::Welcome;

// Bob has /b/, Carol has /c/, and their coordinator is the test's.
class PlayedEndTest : public test::MembersTest {
 protected:
  void SetUp() override {
    ListenAsCoordinator();
    bob_link_ = Join(Bob(), "/b/", 1, &bob_id_);
    carol_link_ = Join(Carol(), "/c/", 1, &carol_id_);
    Tell(*bob_link_, carol_id_, "/c/");
    Tell(*carol_link_, bob_id_, "/b/");
  }
  std::unique_ptr<Raw> Join(Member& member, const char* path, uint32_t token, uint64_t* id) {
    RegistrationResult result;
    peer::Register wanted = Wanted(path);
    wanted.token = token;
    EXPECT_TRUE(member.BeginRegister(port_, wanted, &result));
    auto link = std::make_unique<Raw>(AcceptMember());
    Welcome(*link, id);
    Confirm(*link, member, *id);
    return link;
  }
  // Grants what the member has asked for next.
  void Confirm(Raw& link, Member& member, uint64_t id) {
    peer::Register asked;
    NextRegister(link, &asked);
    for (const peer::PrefixItem& item : asked.prefixes) {
      link.Send(FrameType::kEntry, peer::Entry{id, 1, item.id, 0, 0, "", item.text});
    }
    link.Send(FrameType::kRegistered, peer::Registered{asked.token, 0, 0, "", 0, ""});
    RegistrationResult result;
    ASSERT_TRUE(member.TakeResult(&result));
    EXPECT_EQ(result.error, 0);
    for (const int fd : result.sockets) close(fd);
  }
  // Tells a member of another one and its prefix, and waits until that is in force.
  void Tell(Raw& link, uint64_t id, const char* path) {
    link.Send(FrameType::kMember, peer::Member{id, 1, 0, 1, "played"});
    link.Send(FrameType::kEntry, peer::Entry{id, 1, 1, 0, 0, "", Prefix(path)});
    link.Send(FrameType::kSync, peer::Sync{2});
    peer::Sync synced;
    while (synced.serial != 2) {
      const std::optional<std::string> payload = link.Next(FrameType::kSynced);
      ASSERT_TRUE(payload.has_value() && peer::Decode(*payload, &synced));
    }
  }
  // The member takes back everything of its server. The coordinator has read that, and done
  // nothing.
  void TakeBack(Member& member, Raw& link, uint32_t wait_ms, uint32_t token) {
    EXPECT_TRUE(member.sharing().Unregister(port_, {1, wait_ms, 1, {}, token}));
    ASSERT_TRUE(link.Next(FrameType::kUnregister).has_value());
  }
  void EndCoordinator() {
    close(coordinator_.fd);
    bob_link_->End();
    carol_link_->End();
  }
  // Ends the coordinator for one member, and waits until that has taken the place: the other member
  // comes second.
  void EndFor(Raw& link) {
    close(coordinator_.fd);
    link.End();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    int fd = -1;
    while (fd < 0 && std::chrono::steady_clock::now() < deadline) {
      fd = ConnectTo(PortName(port_));
    }
    EXPECT_GE(fd, 0) << "nobody took the place";
    close(fd);
  }
  void ExpectResult(Member& member, uint32_t token) {
    RegistrationResult result;
    ASSERT_TRUE(member.TakeResult(&result));
    EXPECT_EQ(result.token, token);
    EXPECT_EQ(result.error, 0);
    for (const int fd : result.sockets) close(fd);
  }
  void ExpectHasLeft(Member& member) {
    const int meeting = member.sharing().Meet(port_);
    EXPECT_NE(meeting, static_cast<int>(Meeting::kMember));
    member.sharing().Leave(port_);
  }
  // True if one of the two prefixes has no owner and is not forgotten.
  static bool IsOneAbsent(const PortRoutes& routes) {
    size_t absent = 0;
    for (uint32_t id = 0; id < routes.target_limit(); ++id) {
      absent += routes.target(id).absent_until_ms != 0 ? 1 : 0;
    }
    return routes.target_count() == 2 && absent == 1;
  }

  std::unique_ptr<Raw> bob_link_;
  std::unique_ptr<Raw> carol_link_;
  uint64_t bob_id_ = 0;
  uint64_t carol_id_ = 0;
};

TEST_F(PlayedEndTest, WhoLeavesIsHeardByTheNextCoordinator) {
  TakeBack(*bob_, *bob_link_, 60'000, 7);
  EndCoordinator();
  EXPECT_TRUE(carol_->RoutesBecome(port_, IsOneAbsent));
  ExpectResult(*bob_, 7);
  ExpectHasLeft(*bob_);
  EXPECT_EQ(Register(*carol_, "/b/").error, 0);
}

TEST_F(PlayedEndTest, WhoLeavesAsTheNextCoordinatorWaitsForTheOthers) {
  TakeBack(*bob_, *bob_link_, 60'000, 7);
  EndFor(*bob_link_);
  carol_link_->End();
  EXPECT_TRUE(carol_->RoutesBecome(port_, IsOneAbsent));
  ExpectResult(*bob_, 7);
  ExpectHasLeft(*bob_);
}

TEST_F(PlayedEndTest, WhoStaysHasTakenItBackAsWell) {
  for (Member* next : {carol_.get(), bob_.get()}) {
    if (next == bob_.get()) {
      // Once more, and the other one comes first.
      carol_.reset();
      bob_.reset();
      SetUp();
    }
    RegistrationResult result;
    peer::Register more = Wanted("/more/");
    more.token = 2;
    more.prefixes[0].id = 2;
    ASSERT_TRUE(bob_->BeginRegister(port_, more, &result));
    Confirm(*bob_link_, *bob_, bob_id_);
    carol_link_->Send(FrameType::kEntry, peer::Entry{bob_id_, 1, 2, 0, 0, "", Prefix("/more/")});
    Tell(*carol_link_, bob_id_, "/b/");
    EXPECT_TRUE(bob_->sharing().Unregister(port_, {1, 0, 0, {1}, 7}));
    ASSERT_TRUE(bob_link_->Next(FrameType::kUnregister).has_value());
    EXPECT_EQ(carol_->targets(port_), 3u);
    EndFor(next == carol_.get() ? *carol_link_ : *bob_link_);
    (next == carol_.get() ? *bob_link_ : *carol_link_).End();
    ExpectResult(*bob_, 7);
    EXPECT_EQ(carol_->targets(port_), 2u) << "told before the answer";
    EXPECT_EQ(bob_->targets(port_), 2u);
  }
}

TEST_F(PlayedEndTest, WhatIsRegisteredAgainMeanwhileStays) {
  TakeBack(*bob_, *bob_link_, 60'000, 7);
  RegistrationResult result;
  peer::Register again = Wanted("/b/");
  again.token = 8;
  ASSERT_TRUE(bob_->BeginRegister(port_, again, &result));
  ASSERT_TRUE(bob_link_->Next(FrameType::kRegister).has_value());
  EndCoordinator();
  // Who takes the place itself may hear of them in another order.
  std::set<uint32_t> tokens;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(bob_->TakeResult(&result));
    EXPECT_EQ(result.error, 0);
    tokens.insert(result.token);
    for (const int fd : result.sockets) close(fd);
  }
  EXPECT_EQ(tokens, (std::set<uint32_t>{7, 8}));
  const auto routes = carol_->Routes(port_);
  EXPECT_EQ(routes->target_count(), 2u);
  EXPECT_EQ(routes->peers(), std::vector<uint64_t>{bob_id_});
  EXPECT_EQ(Register(*carol_, "/b/").error, EADDRINUSE);
}

TEST_F(PlayedEndTest, ARemovalThatWasGivenUpIsNotForgotten) {
  // So late that nobody waits for it: as when it never was confirmed.
  bob_->sharing().Unregister(port_, {1, 0, 0, {1}, 0}, true);
  ASSERT_TRUE(bob_link_->Next(FrameType::kUnregister).has_value());
  EndFor(*carol_link_);
  bob_link_->End();
  EXPECT_TRUE(carol_->RoutesBecome(port_, [](const auto& r) { return r.target_count() == 1; }));
  EXPECT_EQ(Register(*carol_, "/b/").error, 0);
}

TEST_F(PlayedEndTest, AllMayLeaveAtOnce) {
  TakeBack(*bob_, *bob_link_, 0, 7);
  TakeBack(*carol_, *carol_link_, 0, 7);
  EndCoordinator();
  ExpectResult(*bob_, 7);
  ExpectResult(*carol_, 7);
  NamedSocket meeting;
  EXPECT_EQ(ListenUnder(PortName(port_), &meeting), 0) << "the port is free";
  close(meeting.fd);
}

TEST_F(PlayedEndTest, WhoIsAloneLeavesAtOnce) {
  bob_link_->Send(FrameType::kMemberGone, peer::MemberGone{carol_id_});
  carol_.reset();
  TakeBack(*bob_, *bob_link_, 60'000, 7);
  EndCoordinator();
  ExpectResult(*bob_, 7);
  ExpectHasLeft(*bob_);
}

TEST_F(PlayedEndTest, WhoIsNotAnsweredLeavesAllTheSame) {
  TakeBack(*bob_, *bob_link_, 60'000, 7);
  // There is a coordinator, which says nothing.
  bob_link_->End();
  ExpectResult(*bob_, 7);
  ExpectHasLeft(*bob_);
  close(coordinator_.fd);
}

}  // namespace
}  // namespace httpsys::sharing
