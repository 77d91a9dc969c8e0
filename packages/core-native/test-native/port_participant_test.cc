// What a member and a coordinator do in situations that the random schedules of port_model_test
// have found. Their world is played by the test.

#include "sharing/port_participant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "peer/messages.h"

namespace httpsys::sharing {
namespace {

using peer::FrameType;

constexpr uint16_t kPort = 8080;
constexpr uint64_t kSelf = 1;
constexpr uint64_t kAlice = 2;
constexpr uint64_t kBob = 3;
constexpr uint64_t kDead = 4;

struct Sent {
  LinkId link = 0;
  FrameType type{};
  std::string payload;
};

class World final : public PortEffects {
 public:
  Visit VisitMeeting() override {
    if (coordinator_rank < 0) return {Visit::Result::kNobody, 0, 0, {}, 0};
    return VisitRank(static_cast<uint32_t>(coordinator_rank));
  }
  Visit VisitRank(uint32_t rank) override {
    return {Visit::Result::kLinked, ++last_link, 0, {0, 77}, rank};
  }
  int TakeMeeting(uint32_t) override { return 0; }
  int TakeRankAbove(uint32_t rank) override {
    if (coordinator_rank != static_cast<int>(rank)) return -ENOENT;
    return static_cast<int>(rank) + 1;
  }
  void TellDoubt(const std::vector<uint64_t>&) override {}
  bool IsStrangers(Credentials*) override { return false; }
  void OpenMeeting() override {}
  void LeaveMeeting() override {}
  bool IsSucceeded(uint32_t) override { return false; }
  bool IsGone(uint64_t member) override { return member == kDead; }
  void Send(LinkId link, FrameType type, std::string payload) override {
    sent.push_back({link, type, std::move(payload)});
  }
  void Tell(LinkId link, FrameType type, std::string payload) override {
    Send(link, type, std::move(payload));
  }
  void TellSocket(LinkId, const std::string&) override {}
  size_t UnsentBytes(LinkId) override { return 0; }
  bool HasUnread(LinkId) override { return false; }
  bool HasEnded(LinkId link) override { return ended.contains(link); }
  void CloseLink(LinkId link) override { closed.insert(link); }
  void Publish(std::shared_ptr<const PortRoutes> routes, std::optional<Applied>) override {
    published.push_back(routes->Find("a", "/a/", {}).status);
    departures = routes->departures();
  }
  bool Accept(uint32_t, const std::string&) override { return true; }
  void Complete(RegistrationResult result, bool) override { results.push_back(std::move(result)); }
  PortCounters Count() override { return {}; }
  peer::TicketKeys TellTicketKeys() override { return {}; }
  void LearnTicketKeys(const peer::TicketKeys&) override {}

  // The frames of a type that were sent over a link, in order.
  template <typename Message>
  std::vector<Message> SentOf(LinkId link, FrameType type) const {
    std::vector<Message> found;
    for (const Sent& each : sent) {
      if (each.link != link || each.type != type) continue;
      EXPECT_TRUE(peer::Decode(each.payload, &found.emplace_back()));
    }
    return found;
  }

  int coordinator_rank = -1;  // -1 = nobody listens.
  LinkId last_link = 0;
  std::set<LinkId> ended;
  std::set<LinkId> closed;
  std::vector<Sent> sent;
  std::vector<RouteStatus> published;  // What /a/ was in each version of the routes.
  uint64_t departures = 0;             // In the last version.
  std::vector<RegistrationResult> results;
};

std::string Prefix(const char* path) { return "http://*:8080" + std::string(path); }

peer::Register Wanted(uint32_t token, const char* path, uint8_t again = peer::kFirstTime) {
  peer::Register wanted;
  wanted.token = token;
  wanted.server_id = 1;
  wanted.again = again;
  wanted.prefixes.push_back({1, Prefix(path), {}});
  return wanted;
}

peer::Entry EntryOf(uint64_t member, const char* path) {
  return {member, 1, 1, 0, 0, "", Prefix(path)};
}

peer::Entry Offline(uint64_t member, const char* path) {
  return {member, 1, 1, peer::kEntryOffline, limits::kOfflineMs, "", Prefix(path)};
}

class PortParticipantTest : public testing::Test {
 protected:
  template <typename Message>
  bool Give(LinkId link, FrameType type, const Message& message) {
    const std::string payload = peer::Encode(message);
    return port_.OnFrame(link, {type, 0, payload}, {}, now_ms_);
  }
  void Pass(uint64_t ms) {
    for (const uint64_t end_ms = now_ms_ + ms; now_ms_ < end_ms; now_ms_ += 10) port_.Tick(now_ms_);
  }
  // The engine coordinates, and somebody joins it over a link.
  void Found() { port_.Found(now_ms_); }
  void Join(LinkId link, uint64_t id) {
    EXPECT_TRUE(port_.OnVisitor(link, {}, now_ms_));
    EXPECT_TRUE(Give(link, FrameType::kHello, peer::Hello{.id = id, .program = "played"}));
  }
  // The engine joins a coordinator that has told these entries, over the link that it returns.
  LinkId JoinTo(uint64_t coordinator, const std::vector<peer::Entry>& entries) {
    const LinkId link = port_.link();
    EXPECT_NE(link, 0u);
    EXPECT_TRUE(Give(link, FrameType::kWelcome, peer::Welcome{peer::kProtocol, coordinator}));
    for (const uint64_t id : {coordinator, kSelf}) {
      EXPECT_TRUE(
          Give(link, FrameType::kMember, peer::Member{id, 1, 0, peer::kProtocol, "played"}));
    }
    for (const peer::Entry& entry : entries) Give(link, FrameType::kEntry, entry);
    EXPECT_TRUE(Give(link, FrameType::kSync, peer::Sync{1}));
    return link;
  }
  LinkId RegisterAt(uint64_t coordinator, const char* path) {
    world_.coordinator_rank = 0;
    RegistrationResult result;
    EXPECT_FALSE(port_.Register(Wanted(1, path), &result, now_ms_));
    port_.Tick(now_ms_);
    return JoinTo(coordinator, {});
  }
  std::vector<uint64_t> OwnersOf(const char* path, bool is_absent) const {
    std::vector<uint64_t> owners;
    for (const StateEntry& there : port_.record().state.entries()) {
      const bool is_meant = there.entry.prefix == Prefix(path) && there.is_absent() == is_absent;
      if (is_meant) owners.push_back(there.entry.member);
    }
    return owners;
  }

  using Owners = std::vector<uint64_t>;
  uint64_t now_ms_ = 1000;
  World world_;
  PortParticipant port_{kPort, {kSelf, 1, 0, peer::kProtocol, "test"}, &world_};
};

// -- The coordinator.

// A coordinator that was stopped reads what members had asked before they moved to its successor.
TEST_F(PortParticipantTest, NothingIsGrantedToAMemberThatHasClosedItsLink) {
  Found();
  Join(1, kAlice);
  Join(2, kBob);
  world_.ended = {1};
  EXPECT_TRUE(Give(1, FrameType::kRegister, Wanted(1, "/a/")));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{});
  EXPECT_TRUE(Give(2, FrameType::kRegister, Wanted(1, "/a/")));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kBob});
}

TEST_F(PortParticipantTest, AMemberThatHasClosedItsLinkIsNotWelcomed) {
  Found();
  ASSERT_TRUE(port_.OnVisitor(1, {}, now_ms_));
  world_.ended = {1};
  EXPECT_TRUE(Give(1, FrameType::kHello, peer::Hello{.id = kAlice, .program = "played"}));
  EXPECT_TRUE(port_.record().state.members().empty());
  EXPECT_TRUE(world_.sent.empty());
}

// The coordinator is a member, too.
TEST_F(PortParticipantTest, AMemberTooManyIsRefusedUntilOneHasGone) {
  Found();
  for (LinkId link = 1; link < limits::kMembersMax; ++link) {
    Join(link, kSelf + link);
    EXPECT_EQ(world_.SentOf<peer::Welcome>(link, FrameType::kWelcome).size(), 1u);
    world_.sent.clear();
  }
  constexpr LinkId kLater = limits::kMembersMax;
  constexpr uint64_t kNewcomer = kSelf + limits::kMembersMax;
  Join(kLater, kNewcomer);
  const auto refusals = world_.SentOf<peer::Refusal>(kLater, FrameType::kRefusal);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].reason, static_cast<uint8_t>(peer::RefusalReason::kFull));
  EXPECT_EQ(port_.record().state.members().size(), limits::kMembersMax - 1);
  port_.OnBroken(kLater, now_ms_);

  // There is room for who only asks.
  ASSERT_TRUE(port_.OnVisitor(kLater + 1, {}, now_ms_));
  EXPECT_TRUE(port_.OnFrame(kLater + 1, {FrameType::kStateQuery, 0, ""}, {}, now_ms_));
  port_.Tick(now_ms_ + limits::kStateMs);
  const auto is_answer = [](const Sent& each) {
    return each.link == kLater + 1 && each.type == FrameType::kState;
  };
  EXPECT_EQ(std::count_if(world_.sent.begin(), world_.sent.end(), is_answer), 1);

  port_.OnBroken(1, now_ms_);
  Join(kLater + 2, kNewcomer);
  EXPECT_EQ(world_.SentOf<peer::Welcome>(kLater + 2, FrameType::kWelcome).size(), 1u);
}

// Alice has /a/ as far as the coordinator knows, which was stopped. Bob knows that the process that
// had it after her was killed.
class KnownTest : public PortParticipantTest {
 protected:
  KnownTest() {
    Found();
    Join(1, kAlice);
    EXPECT_TRUE(Give(1, FrameType::kRegister, Wanted(1, "/a/")));
    EXPECT_TRUE(Give(1, FrameType::kMoving, peer::Sync{}));
    port_.OnBroken(1, now_ms_);
    Join(2, kBob);
    EXPECT_TRUE(Give(2, FrameType::kEntry, Offline(kDead, "/a/")));
    EXPECT_TRUE(Give(2, FrameType::kSync, peer::Sync{}));
  }
};

TEST_F(KnownTest, AnExpectedPrefixStandsBesideAnOwnerThatHasNotComeBack) {
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
  EXPECT_EQ(OwnersOf("/a/", true), Owners{kDead});
  // She has left it.
  Join(3, kAlice);
  EXPECT_TRUE(Give(3, FrameType::kUnregister, peer::Unregister{1, 0, 1, {}, 0}));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{});
  EXPECT_EQ(OwnersOf("/a/", true), Owners{kDead});
}

TEST_F(KnownTest, AnOwnerThatComesBackIsTheOnlyOne) {
  Join(3, kAlice);
  EXPECT_TRUE(Give(3, FrameType::kRegister, Wanted(0, "/a/", peer::kAgain)));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
  EXPECT_EQ(OwnersOf("/a/", true), Owners{});
  const auto gone = world_.SentOf<peer::EntryGone>(2, FrameType::kEntryGone);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].member, kDead);
}

TEST_F(KnownTest, AnOwnerThatIsHereHasSaidWhatItHas) {
  Join(3, kAlice);
  EXPECT_TRUE(Give(3, FrameType::kRegister, Wanted(0, "/a/", peer::kAgain)));
  EXPECT_TRUE(Give(3, FrameType::kSynced, peer::Sync{}));
  EXPECT_TRUE(Give(2, FrameType::kEntry, Offline(kDead, "/a/")));
  EXPECT_EQ(OwnersOf("/a/", true), Owners{});
}

// The successor has given it to Bob, when she had left it.
TEST_F(KnownTest, WhoRegistersAgainGetsAPrefixWhoseOwnerHasNotComeBack) {
  EXPECT_TRUE(Give(2, FrameType::kRegister, Wanted(0, "/a/", peer::kAgain)));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kBob});
  const auto gone = world_.SentOf<peer::EntryGone>(2, FrameType::kEntryGone);
  EXPECT_TRUE(std::any_of(gone.begin(), gone.end(),
                          [](const peer::EntryGone& each) { return each.member == kAlice; }));
  Join(3, kAlice);
  EXPECT_TRUE(Give(3, FrameType::kRegister, Wanted(0, "/a/", peer::kAgain)));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kBob});
}

TEST_F(KnownTest, WhoHasLostItBeforeDoesNotGetIt) {
  EXPECT_TRUE(Give(2, FrameType::kRegister, Wanted(0, "/a/", peer::kAgainAfterLoss)));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
}

TEST_F(KnownTest, WhoRegistersForTheFirstTimeDoesNotGetIt) {
  EXPECT_TRUE(Give(2, FrameType::kRegister, Wanted(1, "/a/")));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
}

TEST_F(KnownTest, AnOwnerThatIsHereKeepsWhatOthersRegisterAgain) {
  Join(3, kAlice);
  EXPECT_TRUE(Give(2, FrameType::kRegister, Wanted(0, "/a/", peer::kAgain)));
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
}

// -- Who takes the place and may not know all members.

class TakenPlaceTest : public PortParticipantTest {
 protected:
  // Nobody coordinates any more: the engine takes the place, and gives its prefix back.
  void TakePlaceAndRemove() {
    world_.coordinator_rank = -1;
    Pass(limits::kElectionMs);
    ASSERT_TRUE(port_.is_coordinator());
    EXPECT_TRUE(port_.Unregister({1, 0, 1, {}, kRemoval}, false, now_ms_));
    port_.OnApplied({0, UINT32_MAX}, now_ms_);
  }
  bool IsRemovalDone() const {
    return std::any_of(world_.results.begin(), world_.results.end(),
                       [](const RegistrationResult& each) { return each.token == kRemoval; });
  }

  static constexpr uint32_t kRemoval = 9;
};

TEST_F(TakenPlaceTest, ANewcomersRemovalWaitsForMembersThatItWasNotToldOf) {
  world_.coordinator_rank = 0;
  RegistrationResult result;
  EXPECT_FALSE(port_.Register(Wanted(1, "/b/"), &result, now_ms_));
  port_.Tick(now_ms_);
  const LinkId link = port_.link();
  EXPECT_TRUE(Give(link, FrameType::kWelcome, peer::Welcome{peer::kProtocol, kAlice}));
  port_.OnBroken(link, now_ms_);
  TakePlaceAndRemove();
  EXPECT_FALSE(IsRemovalDone());
  Pass(limits::kReunionMs);
  EXPECT_TRUE(IsRemovalDone());
}

TEST_F(TakenPlaceTest, ARemovalWaitsForMembersOfACoordinatorThatHasToldNothing) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  port_.OnBroken(first, now_ms_);
  ASSERT_NE(port_.link(), 0u);
  port_.OnBroken(port_.link(), now_ms_);
  TakePlaceAndRemove();
  EXPECT_FALSE(IsRemovalDone());
  Pass(limits::kReunionMs);
  EXPECT_TRUE(IsRemovalDone());
}

TEST_F(TakenPlaceTest, TheFoundersRemovalWaitsForNobody) {
  Found();
  RegistrationResult result;
  EXPECT_TRUE(port_.Register(Wanted(1, "/b/"), &result, now_ms_));
  EXPECT_FALSE(port_.Unregister({1, 0, 1, {}, kRemoval}, false, now_ms_));
}

TEST_F(TakenPlaceTest, ARemovalWaitsForNobodyIfTheLastCoordinatorHadNoOtherMembers) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  world_.coordinator_rank = -1;
  port_.OnBroken(first, now_ms_);
  ASSERT_TRUE(port_.is_coordinator());
  // Done, and nothing is left on the port.
  EXPECT_FALSE(port_.Unregister({1, 0, 1, {}, kRemoval}, false, now_ms_));
}

// -- Members that leave: connections may wait that the kernel has woken one of them for.

TEST_F(PortParticipantTest, RoutesTellTheCoordinatorThatAMemberHasLeft) {
  Found();
  Join(1, kAlice);
  EXPECT_TRUE(Give(1, FrameType::kRegister, Wanted(1, "/a/")));
  EXPECT_EQ(world_.departures, 0u);
  port_.OnBroken(1, now_ms_);
  EXPECT_EQ(world_.departures, 1u);
}

TEST_F(PortParticipantTest, RoutesTellMembersThatAMemberHasLeft) {
  const LinkId link = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(link, FrameType::kMember, peer::Member{kBob, 1, 0, peer::kProtocol, "bob"}));
  EXPECT_TRUE(Give(link, FrameType::kEntry, EntryOf(kBob, "/a/")));
  EXPECT_TRUE(Give(link, FrameType::kSync, peer::Sync{2}));
  const uint64_t before = world_.departures;
  EXPECT_TRUE(Give(link, FrameType::kEntryGone, peer::EntryGone{kBob, 1, 1}));
  EXPECT_TRUE(Give(link, FrameType::kSync, peer::Sync{3}));
  EXPECT_EQ(world_.departures, before) << "a prefix alone";
  EXPECT_TRUE(Give(link, FrameType::kMemberGone, peer::MemberGone{kBob}));
  EXPECT_TRUE(Give(link, FrameType::kSync, peer::Sync{4}));
  EXPECT_EQ(world_.departures, before + 1);
}

// Who has left while the coordinator changed is not told by the next one.
TEST_F(PortParticipantTest, AnotherCoordinatorsStateMayLackMembersThatHaveLeft) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  port_.OnBroken(first, now_ms_);
  const uint64_t before = world_.departures;
  JoinTo(kBob, {EntryOf(kSelf, "/b/")});
  EXPECT_GT(world_.departures, before);
}

// -- The member.

// The coordinator does not answer, or the member was stopped itself.
TEST_F(PortParticipantTest, ARemovalIsKeptWhileJoiningTakesTooLong) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  port_.OnBroken(first, now_ms_);
  now_ms_ += limits::kCoordinatorMs;
  EXPECT_TRUE(port_.Unregister({1, 0, 1, {}, 9}, false, now_ms_));
  Pass(100);
  ASSERT_FALSE(port_.is_over());
  const LinkId second = JoinTo(kBob, {EntryOf(kSelf, "/b/")});
  const auto told = world_.SentOf<peer::Unregister>(second, FrameType::kUnregister);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].token, 9u);
}

// The coordinator was stopped when the member left /a/, which another process had then.
TEST_F(PortParticipantTest, WhatAMemberKnowsIsToldBeforeItsRemovals) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kEntry, EntryOf(kDead, "/a/")));
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  EXPECT_TRUE(Give(first, FrameType::kMemberGone, peer::MemberGone{kDead}));
  EXPECT_TRUE(Give(first, FrameType::kSync, peer::Sync{2}));
  ASSERT_EQ(world_.published.back(), RouteStatus::kOffline);
  port_.OnBroken(first, now_ms_);
  world_.published.clear();
  world_.sent.clear();
  peer::Entry stale = EntryOf(kSelf, "/a/");
  stale.server_id = 9;
  const LinkId second = JoinTo(kBob, {stale});
  // The known prefix takes the place of the removed one, here and at the coordinator.
  std::vector<FrameType> order;
  for (const Sent& each : world_.sent) {
    const bool is_meant = each.type == FrameType::kEntry || each.type == FrameType::kUnregister;
    if (each.link == second && is_meant) order.push_back(each.type);
  }
  EXPECT_EQ(order, (std::vector<FrameType>{FrameType::kEntry, FrameType::kUnregister}));
  const auto told = world_.SentOf<peer::Entry>(second, FrameType::kEntry);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].member, kDead);
  ASSERT_FALSE(world_.published.empty());
  for (const RouteStatus status : world_.published) EXPECT_EQ(status, RouteStatus::kOffline);
}

TEST_F(PortParticipantTest, AnOwnerThatAMemberDoesNotKnowIsNotBelieved) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kEntry, EntryOf(kDead, "/a/")));
  EXPECT_TRUE(Give(first, FrameType::kMemberGone, peer::MemberGone{kDead}));
  EXPECT_TRUE(Give(first, FrameType::kSync, peer::Sync{2}));
  port_.OnBroken(first, now_ms_);
  const LinkId second = JoinTo(kBob, {EntryOf(kAlice, "/a/")});
  const auto told = world_.SentOf<peer::Entry>(second, FrameType::kEntry);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].member, kDead);
  EXPECT_EQ(OwnersOf("/a/", false), Owners{kAlice});
}

TEST_F(PortParticipantTest, AMemberSaysOfWhatItHasLostThatItHas) {
  const LinkId first = RegisterAt(kAlice, "/b/");
  EXPECT_TRUE(Give(first, FrameType::kRegistered, peer::Registered{1, 0, 0, "", 0, ""}));
  const auto again_at = [this](uint64_t coordinator, const std::vector<peer::Entry>& entries) {
    port_.OnBroken(port_.link(), now_ms_);
    const LinkId link = JoinTo(coordinator, entries);
    const auto told = world_.SentOf<peer::Register>(link, FrameType::kRegister);
    return told.size() == 1 ? told[0].again : UINT8_MAX;
  };
  EXPECT_EQ(again_at(kBob, {EntryOf(kAlice, "/b/")}), peer::kAgain);
  EXPECT_TRUE(Give(port_.link(), FrameType::kRegistered,
                   peer::Registered{0, EADDRINUSE, 0, Prefix("/b/"), 0, ""}));
  EXPECT_EQ(again_at(kAlice, {EntryOf(kBob, "/b/")}), peer::kAgainAfterLoss);
  // The member gets the prefix back.
  EXPECT_TRUE(Give(port_.link(), FrameType::kEntryGone, peer::EntryGone{kBob, 1, 1}));
  EXPECT_TRUE(Give(port_.link(), FrameType::kEntry, EntryOf(kSelf, "/b/")));
  EXPECT_EQ(again_at(kBob, {}), peer::kAgain);
}

// A coordinator that takes a lower rank runs. If it is stopped there, it is asked again.
TEST_F(PortParticipantTest, ACoordinatorThatHasMovedIsNotSucceededBeforeItIsAskedAgain) {
  const LinkId link = RegisterAt(kAlice, "/b/");
  const auto pings = [this] {
    std::set<LinkId> asked;
    for (const Sent& each : world_.sent) {
      if (each.type == FrameType::kPing) asked.insert(each.link);
    }
    return asked.size();
  };
  EXPECT_FALSE(port_.is_coordinator());
  world_.coordinator_rank = 1;
  Pass(limits::kDoubtMs + limits::kDoubtLookMs);
  ASSERT_EQ(pings(), 1u);
  world_.coordinator_rank = 0;
  Pass(limits::kSilentMs + limits::kDoubtLookMs);
  EXPECT_FALSE(port_.is_coordinator());
  EXPECT_EQ(pings(), 2u);
  Pass(limits::kSilentMs + limits::kDoubtLookMs);
  EXPECT_TRUE(port_.is_coordinator());
  EXPECT_TRUE(world_.closed.contains(link));
}

}  // namespace
}  // namespace httpsys::sharing
