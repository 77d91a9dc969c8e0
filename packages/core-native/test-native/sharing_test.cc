// Several members in one process on one port: joining, conflicts, elections, absent owners.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "sharing/shared_ports.h"
#include "sharing/state_query.h"
#include "support/members_fixture.h"

namespace httpsys::sharing {
namespace {

using test::Member;
using SharingTest = test::MembersTest;

TEST_F(SharingTest, TheFirstMemberDecidesAloneAndAtOnce) {
  Member& alice = Alice();
  EXPECT_EQ(alice.sharing().Meet(port_), static_cast<int>(Meeting::kMember));
  RegistrationResult result;
  EXPECT_FALSE(alice.BeginRegister(port_, Wanted("/b/"), &result)) << "at once";
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.sockets.size(), 1u);
  for (const int fd : result.sockets) close(fd);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 2; }));
}

TEST_F(SharingTest, ASecondMemberJoinsAndBothKnowBoth) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(bob.sharing().Meet(port_), static_cast<int>(Meeting::kTaken));
  const RegistrationResult result = Register(bob, "/b/");
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.sockets.size(), 1u) << "the socket that alice listens on";
  EXPECT_EQ(bob.accepts(), 1);
  // No waiting: that is what the answer has waited for.
  const auto hers = alice.Routes(port_);
  EXPECT_EQ(hers->target_count(), 2u);
  EXPECT_EQ(hers->peers(), std::vector<uint64_t>{bob.sharing().id()});
  EXPECT_TRUE(hers->is_shared());
  const auto his = bob.Routes(port_);
  EXPECT_EQ(his->target_count(), 2u);
  EXPECT_EQ(his->peers(), std::vector<uint64_t>{alice.sharing().id()});
}

TEST_F(SharingTest, ARegistrationIsInForceEverywhereWhenItIsAnswered) {
  Member& alice = Alice();
  Member& bob = Bob();
  Member& carol = Carol();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  EXPECT_EQ(Register(carol, "/c/").error, 0);
  for (Member* member : {&alice, &bob, &carol}) EXPECT_EQ(member->targets(port_), 3u);
  EXPECT_EQ(alice.Register(port_, 2, {Prefix("/d/")}).error, 0);
  for (Member* member : {&alice, &bob, &carol}) EXPECT_EQ(member->targets(port_), 4u);
}

TEST_F(SharingTest, AConflictNamesThePrefixAndTheProcess) {
  Alice();
  Member& bob = Bob();
  const RegistrationResult result = Register(bob, "/A/");
  EXPECT_EQ(result.error, EADDRINUSE);
  EXPECT_EQ(result.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(result.prefix, Prefix("/a/"));
  EXPECT_TRUE(result.sockets.empty());
  EXPECT_EQ(Register(bob, "/b/").error, 0) << "another one may follow";
}

TEST_F(SharingTest, TicketKeysOfAPortWithTlsAreTheCoordinators) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  EXPECT_TRUE(bob.ticket_keys().empty()) << "nobody needs them on a plain port";
  const test::PortHolder secure;
  const std::string prefix = "https://*:" + std::to_string(secure.port());
  EXPECT_EQ(alice.sharing().Meet(secure.port()), static_cast<int>(Meeting::kOurs));
  EXPECT_EQ(alice.sharing().Contribute(secure.port(), 7, secure.fd()), 0);
  EXPECT_EQ(alice.Register(secure.port(), 7, {prefix + "/a/"}).error, 0);
  EXPECT_EQ(bob.Register(secure.port(), 8, {prefix + "/b/"}).error, 0);
  // Before the answer: from then on it may seal.
  EXPECT_EQ(bob.ticket_keys(), std::vector<std::string>{std::to_string(alice.sharing().id())});
  EXPECT_TRUE(alice.ticket_keys().empty());
  alice.Close();
  Member& carol = Carol();
  EXPECT_EQ(carol.Register(secure.port(), 9, {prefix + "/c/"}).error, 0);
  EXPECT_EQ(carol.ticket_keys(), std::vector<std::string>{std::to_string(bob.sharing().id())});
}

TEST_F(SharingTest, OwnersOfAQueueShareAPrefix) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(alice.Register(port_, 2, {Prefix("/q/")}, 0, "q").error, 0);
  EXPECT_EQ(bob.Register(port_, 1, {Prefix("/q/")}, 0, "q", QueueMode::kAttach).error, 0);
  EXPECT_EQ(alice.targets(port_), 2u);
  EXPECT_EQ(bob.Register(port_, 2, {Prefix("/r/")}, 0, "r", QueueMode::kAttach).error, ENOENT);
}

// As workers of a cluster, whose primary has the socket.
TEST_F(SharingTest, AMemberThatOthersAcceptForHasNoSocketAndCanBeJoined) {
  constexpr uint8_t kFed = peer::kEntryPlain | peer::kEntryFed;
  constexpr QueueMode kAttach = QueueMode::kCreateOrAttach;
  alice_ = std::make_unique<Member>();
  EXPECT_EQ(alice_->sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
  const RegistrationResult first = alice_->Register(port_, 1, {Prefix("/")}, kFed, "q", kAttach);
  EXPECT_EQ(first.error, 0);
  Member& bob = Bob();
  EXPECT_EQ(bob.Register(port_, 1, {Prefix("/")}, kFed, "q", kAttach).error, 0);
  Member& carol = Carol();
  const RegistrationResult result = Register(carol, "/c/");
  EXPECT_EQ(result.error, 0);
  EXPECT_TRUE(result.sockets.empty());
  EXPECT_EQ(result.fed, std::vector<std::string>{"::"});
  EXPECT_TRUE(carol.sharing().Sockets(port_).sockets.empty());
  alice_.reset();
  EXPECT_TRUE(carol.RoutesBecome(port_, [](const auto& r) { return r.peers().size() == 1; }));
  EXPECT_EQ(carol.sharing().Sockets(port_).fed, std::vector<std::string>{"::"});
  bob_.reset();
  EXPECT_TRUE(carol.RoutesBecome(port_, [](const auto& r) { return !r.has_peers(); }));
  EXPECT_TRUE(carol.sharing().Sockets(port_).fed.empty()) << "nobody accepts";
  EXPECT_EQ(carol.sharing().Contribute(port_, 1, holder_.fd()), 0);
  const PortSockets there = carol.sharing().Sockets(port_);
  EXPECT_EQ(there.sockets.size(), 1u);
  for (const int fd : there.sockets) close(fd);
}

TEST_F(SharingTest, WhenTheCoordinatorGoesTheOthersKeepWhatTheyHave) {
  Member& alice = Alice();
  Member& bob = Bob();
  Member& carol = Carol();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  EXPECT_EQ(Register(carol, "/c/").error, 0);
  alice.Close();
  const auto is_without_alice = [&](const PortRoutes& routes) {
    return routes.target_count() == 2 && routes.peers().size() == 1;
  };
  EXPECT_TRUE(bob.RoutesBecome(port_, is_without_alice));
  EXPECT_TRUE(carol.RoutesBecome(port_, is_without_alice));
  EXPECT_EQ(Register(bob, "/b2/").error, 0);
  EXPECT_EQ(carol.Register(port_, 2, {Prefix("/a/")}).error, 0) << "alice's is free";
  // A newcomer meets the new coordinator, which knows everything.
  alice_ = std::make_unique<Member>();
  EXPECT_EQ(Register(*alice_, "/c/").error, EADDRINUSE);
  const RegistrationResult result = Register(*alice_, "/d/");
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.sockets.size(), 1u) << "the socket has survived who opened it";
  EXPECT_EQ(alice_->targets(port_), 5u);
}

TEST_F(SharingTest, MembersMayGoOneAfterTheOther) {
  Alice();
  Member& bob = Bob();
  Member& carol = Carol();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  EXPECT_EQ(Register(carol, "/c/").error, 0);
  bob_.reset();
  EXPECT_TRUE(carol.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 2; }));
  alice_.reset();
  EXPECT_TRUE(carol.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 1; }));
  EXPECT_EQ(Register(carol, "/b/").error, 0);
  carol_.reset();
  NamedSocket meeting;
  EXPECT_EQ(ListenUnder(PortName(port_), &meeting), 0) << "the port is free";
  close(meeting.fd);
}

TEST_F(SharingTest, AMemberThatUnregistersLeavesAndThePrefixIsFree) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  bob.Unregister(port_, 1);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 1; }));
  EXPECT_EQ(alice.Register(port_, 2, {Prefix("/b/")}).error, 0);
}

TEST_F(SharingTest, ACoordinatorThatUnregistersLeavesAndTheOthersGoOn) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  alice.Unregister(port_, 1);
  EXPECT_TRUE(bob.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 1; }));
  EXPECT_EQ(Register(Carol(), "/a/").error, 0);
}

TEST_F(SharingTest, AServerThatStaysWithoutAPrefixKeepsThePortForOthers) {
  Member& alice = Alice();
  alice.sharing().Unregister(port_, {1, 0, 1, {}, 0}, true);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 0; }));
  EXPECT_TRUE(alice.Routes(port_)->is_used());
  Member& bob = Bob();
  const RegistrationResult result = Register(bob, "/a/");
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.sockets.size(), 1u);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return r.has_peers(); }));
  EXPECT_EQ(alice.Register(port_, 1, {Prefix("/c/")}).error, 0);
  // And so when it is not the coordinator.
  bob.sharing().Unregister(port_, {1, 0, 1, {}, 0}, true);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return !r.has_peers(); }));
  alice_.reset();
  EXPECT_EQ(Register(Carol(), "/a/").error, 0);
  EXPECT_TRUE(bob.RoutesBecome(port_, [](const auto& r) { return r.has_peers(); }));
  carol_.reset();
  bob.Unregister(port_, 1);
  NamedSocket meeting;
  const auto is_free = [&] { return ListenUnder(PortName(port_), &meeting) == 0; };
  for (int i = 0; i < 500 && meeting.fd == -1 && !is_free(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(meeting.fd, -1) << "the port is free";
  close(meeting.fd);
}

TEST_F(SharingTest, APortThatNothingWasRegisteredOnIsGivenBack) {
  Member& bob = Bob();
  EXPECT_EQ(bob.sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
  EXPECT_EQ(Carol().sharing().Meet(port_), static_cast<int>(Meeting::kTaken));
  bob.sharing().Leave(port_);
  EXPECT_EQ(carol_->sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
  carol_->sharing().Leave(port_);
  carol_->sharing().Leave(port_);
}

// -- Absent owners.

TEST_F(SharingTest, RequestsWaitForTheNextOwnerWhoTakesThePlace) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  bob.Unregister(port_, 1, 60'000);
  const auto waits = [](const PortRoutes& routes) {
    return routes.target_count() == 2 && routes.target(1).owners.empty();
  };
  EXPECT_TRUE(alice.RoutesBecome(port_, waits));
  EXPECT_EQ(Register(Carol(), "/b/").error, 0);
  EXPECT_FALSE(waits(*alice.Routes(port_)));
  EXPECT_EQ(alice.targets(port_), 2u);
}

TEST_F(SharingTest, AnAbsentOwnerIsForgottenAfterItsTime) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  bob.Unregister(port_, 1, 50);
  EXPECT_TRUE(alice.RoutesBecome(port_, [](const auto& r) { return r.target_count() == 1; }));
}

TEST_F(SharingTest, AnAbsentCoordinatorIsWaitedForByTheOthers) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  alice.Unregister(port_, 1, 60'000);
  alice.Close();
  EXPECT_TRUE(bob.RoutesBecome(port_, [](const PortRoutes& routes) {
    return routes.target_count() == 2 && routes.peers().empty() && routes.is_shared();
  }));
  EXPECT_EQ(Register(Carol(), "/a/").error, 0);
}

// -- The state of the port.

TEST_F(SharingTest, TheStateNamesAllMembers) {
  Member& alice = Alice();
  Member& bob = Bob();
  EXPECT_EQ(Register(bob, "/b/").error, 0);
  PortReport state;
  ASSERT_EQ(QueryState(port_, 2000, &state), 0);
  EXPECT_EQ(state.port, port_);
  EXPECT_EQ(state.protocol, peer::kProtocol);
  EXPECT_EQ(state.coordinator, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(state.sockets, (std::vector<std::string>{"127.0.0.1:" + std::to_string(port_)}));
  ASSERT_EQ(state.members.size(), 2u);
  for (Member* member : {&alice, &bob}) {
    char id[20];
    std::snprintf(id, sizeof id, "%016llx",
                  static_cast<unsigned long long>(member->sharing().id()));
    const MemberReport& report = state.members[member == &bob];
    EXPECT_EQ(report.id, id);
    EXPECT_EQ(report.pid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(report.counters.connections, 1u);
    ASSERT_EQ(report.registrations.size(), 1u);
    EXPECT_EQ(report.registrations[0].prefix, Prefix(member == &bob ? "/b/" : "/a/"));
    EXPECT_FALSE(report.cache.has_value());
  }
}

TEST_F(SharingTest, AStateThatIsTooLongForAnAnswerIsToldInPart) {
  Member& alice = Alice();
  Member& bob = Bob();
  const std::string path = "/" + std::string(2000, 'x');
  // In small parts: each has to be granted in a coordinator's time, with the thread sanitizer, too.
  constexpr uint32_t kServers = 15;
  constexpr int kPrefixes = 50;
  for (uint32_t server = 1; server <= kServers; ++server) {
    std::vector<std::string> prefixes;
    for (int i = 0; i < kPrefixes; ++i) {
      prefixes.push_back(Prefix((path + std::to_string(server * 1000 + i) + "/").c_str()));
    }
    ASSERT_EQ(bob.Register(port_, server, prefixes).error, 0);
  }
  PortReport state;
  // Ends a hang: 1.5 MB of registrations take seconds with the thread sanitizer on a busy machine.
  constexpr int kHangMs = 60'000;
  ASSERT_EQ(QueryState(port_, kHangMs, &state), 0);
  ASSERT_EQ(state.members.size(), 2u);
  EXPECT_EQ(state.members[0].registrations[0].prefix, Prefix("/a/"));
  EXPECT_GT(state.members[1].registrations.size(), 200u);
  EXPECT_EQ(alice.targets(port_), 1 + kServers * kPrefixes) << "bob is still there";
}

TEST_F(SharingTest, AQuestionAboutCachesReachesEachServerOfAllMembers) {
  Member& alice = Alice();
  Member& bob = Bob();
  ASSERT_EQ(bob.Register(port_, 2, {Prefix("/b/")}).error, 0);
  ASSERT_EQ(bob.Register(port_, 3, {Prefix("/c/"), Prefix("/d/")}).error, 0);
  PortReport state;
  ASSERT_EQ(QueryState(port_, 2000, &state,
                       peer::Encode(CacheQuestion{CacheQuestion::kEntries, 1, "http://a/"})),
            0);
  ASSERT_EQ(state.members.size(), 2u);
  ASSERT_TRUE(state.members[0].cache.has_value());
  EXPECT_EQ(state.members[0].cache->flushed, 0u);
  ASSERT_EQ(state.members[0].cache->entries.size(), 1u);
  EXPECT_EQ(state.members[0].cache->entries[0].url, "http://a/");
  EXPECT_EQ(state.members[0].cache->entries[0].status, 200u);
  ASSERT_EQ(QueryState(port_, 2000, &state,
                       peer::Encode(CacheQuestion{CacheQuestion::kFlushBelow, 0, ""})),
            0);
  ASSERT_EQ(state.members.size(), 2u);
  EXPECT_EQ(state.members[0].cache.value_or(CacheReport{}).flushed, 1u);
  EXPECT_EQ(state.members[1].cache.value_or(CacheReport{}).flushed, 2u);
  EXPECT_EQ(alice.cache_questions(), (std::vector<std::string>{"1:1:http://a/", "1:3:"}));
  EXPECT_EQ(bob.cache_questions(),
            (std::vector<std::string>{"2:1:http://a/", "3:1:http://a/", "2:3:", "3:3:"}));
}

TEST_F(SharingTest, EntriesThatAreTooManyForAnAnswerAreToldInPart) {
  Member& alice = Alice();
  Member& bob = Bob();
  ASSERT_EQ(Register(bob, "/b/").error, 0);
  PortReport state;
  const std::string url = "http://a/" + std::string(8000, 'x');
  ASSERT_EQ(QueryState(port_, 60'000, &state,
                       peer::Encode(CacheQuestion{CacheQuestion::kEntries, 1000, url})),
            0);
  ASSERT_EQ(state.members.size(), 2u);
  EXPECT_GT(state.members[1].cache.value_or(CacheReport{}).entries.size(), 20u);
  EXPECT_EQ(alice.targets(port_), 2u) << "bob is still there";
}

TEST_F(SharingTest, AQuestionThatCannotBeReadIsOneForTheStateAlone) {
  Member& alice = Alice();
  PortReport state;
  for (const std::string& query : {std::string("x"), std::string(100, '\xff')}) {
    ASSERT_EQ(QueryState(port_, 2000, &state, query), 0);
    ASSERT_EQ(state.members.size(), 1u);
    EXPECT_EQ(state.members[0].registrations[0].prefix, Prefix("/a/"));
    EXPECT_FALSE(state.members[0].cache.has_value());
  }
  EXPECT_TRUE(alice.cache_questions().empty());
}

TEST_F(SharingTest, AskingAboutAPortThatNobodySharesFails) {
  PortReport state;
  EXPECT_EQ(QueryState(port_, 1000, &state), -ECONNREFUSED);
}

// -- Ends.

TEST_F(SharingTest, AfterCloseNothingHappensAnyMore) {
  Member& alice = Alice();
  alice.Close();
  alice.Close();
  EXPECT_EQ(alice.sharing().Meet(port_), -EBADF);
  EXPECT_EQ(Register(alice, "/x/").error, EBADF);
  alice.Unregister(port_, 1);
  alice.sharing().Leave(port_);
}

TEST_F(SharingTest, MembersThatCloseWhileOthersJoinLeaveNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    Alice();
    Member& bob = Bob();
    Member& carol = Carol();
    RegistrationResult result;
    bob.BeginRegister(port_, Wanted("/b/"), &result);
    carol.BeginRegister(port_, Wanted("/c/"), &result);
    if (round % 2 == 0) alice_.reset();
    if (round % 3 == 0) bob_.reset();
    carol_.reset();
    bob_.reset();
    alice_.reset();
  }
}

}  // namespace
}  // namespace httpsys::sharing
