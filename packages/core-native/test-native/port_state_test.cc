// Who may register what beside whom, and how copies of that follow what they are told.

#include "sharing/port_state.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <iterator>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/limits.h"

namespace httpsys::sharing {
namespace {

constexpr uint64_t kAlice = 1;
constexpr uint64_t kBob = 2;

struct Wish {
  std::vector<std::string> prefixes;
  uint8_t flags = 0;
  std::string queue = {};
  QueueMode mode = QueueMode::kCreate;
  uint32_t server_id = 1;
  bool is_again = false;
  char terms = 0;  // Of all prefixes; 0 = none is told.
};

peer::Register Wanted(const Wish& wish) {
  peer::Register wanted;
  wanted.server_id = wish.server_id;
  wanted.flags = wish.flags;
  wanted.queue = wish.queue;
  wanted.queue_mode = static_cast<uint8_t>(wish.mode);
  wanted.again = wish.is_again ? peer::kAgain : peer::kFirstTime;
  uint32_t id = 0;
  const std::string terms(wish.terms == 0 ? 0 : peer::kTermsBytes, wish.terms);
  for (const std::string& text : wish.prefixes) wanted.prefixes.push_back({id++, text, terms});
  return wanted;
}

class PortStateTest : public testing::Test {
 protected:
  int Check(uint64_t member, const Wish& wish) {
    const auto conflict = state_.Check(member, Wanted(wish));
    if (!conflict) return 0;
    prefix_ = conflict->prefix;
    member_ = conflict->member;
    queue_ = conflict->queue;
    reason_ = conflict->reason;
    wanted_ = conflict->wanted;
    return conflict->error;
  }
  // As a coordinator does.
  int Add(uint64_t member, const Wish& wish) {
    if (const int error = Check(member, wish); error != 0) return error;
    for (const peer::Entry& entry : state_.EntriesOf(member, Wanted(wish))) {
      EXPECT_TRUE(state_.AddEntry(entry, 0));
    }
    return 0;
  }
  // Of the first one in the way.
  std::string prefix_;
  uint64_t member_ = 0;
  std::string queue_;
  ConflictReason reason_ = ConflictReason::kNone;
  std::string wanted_;
  PortState state_{80};
};

TEST_F(PortStateTest, APrefixHasOneOwner) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/a/"}}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://*:80/b/", "http://*:80/a/"}}), EADDRINUSE);
  EXPECT_EQ(member_, kAlice);
  EXPECT_EQ(prefix_, "http://*:80/a/");
  EXPECT_EQ(Check(kAlice, {.prefixes = {"http://*:80/a/"}, .server_id = 2}), EADDRINUSE);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://*:80/b/"}}), 0);
}

TEST_F(PortStateTest, NestedPrefixesAndOtherKindsOfHostsAreDifferentOnes) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/a/"}}), 0);
  for (const char* other :
       {"http://*:80/", "http://*:80/a/b/", "http://+:80/a/", "http://shop.test:80/a/",
        "http://*.shop.test:80/a/", "http://127.0.0.1:80/a/"}) {
    EXPECT_EQ(Add(kBob, {.prefixes = {other}}), 0) << other;
  }
}

TEST_F(PortStateTest, SpellingsThatRequestsCannotTellApartAreOnePrefix) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://shop.test:80/caf\xc3\xa9/"}}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://SHOP.test:80/caf%C3%A9/"}}), EADDRINUSE);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://shop.test:80/CAF\xc3\xa9/"}}), EADDRINUSE);
  EXPECT_EQ(prefix_, "http://shop.test:80/caf\xc3\xa9/");
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://shop.test:80/cafe/"}}), 0);
}

TEST_F(PortStateTest, WhatIsNoPrefixOfThePortIsRefused) {
  for (const char* bad : {"http://*:81/a/", "http://*/a/", "", "http://*:80/a"}) {
    EXPECT_EQ(Check(kAlice, {.prefixes = {bad}}), EINVAL) << bad;
    EXPECT_EQ(prefix_, bad);
    EXPECT_FALSE(state_.AddEntry({kAlice, 1, 1, 0, 0, "", bad}, 0));
  }
}

TEST_F(PortStateTest, AServerMayRegisterAgainWhatItHas) {
  const Wish wish{.prefixes = {"http://*:80/a/", "http://*:80/b/"}};
  EXPECT_EQ(Add(kAlice, wish), 0);
  EXPECT_EQ(Add(kAlice, wish), 0);
  EXPECT_TRUE(state_.EntriesOf(kAlice, Wanted(wish)).empty());
  EXPECT_EQ(state_.entries().size(), 2u);
}

// -- Rules by which clients are asked for certificates.

TEST_F(PortStateTest, PrefixesThatNoClientHelloTellsApartHaveTheSameTerms) {
  struct Pair {
    const char* one;
    const char* other;
    bool is_refused;
  };
  const Pair pairs[] = {
      {"https://a.test:80/a/", "https://A.test:80/b/", true},
      {"https://a.test:80/a/", "https://b.test:80/b/", false},
      {"https://*:80/a/", "https://+:80/b/", true},
      {"https://*:80/a/", "https://*:80/b/", true},
      {"https://*:80/a/", "https://a.test:80/b/", false},
      {"https://*.a.test:80/a/", "https://*.a.test:80/b/", true},
      {"https://*.a.test:80/a/", "https://a.test:80/b/", false},
      {"https://*.a.test:80/a/", "https://*.b.test:80/b/", false},
      {"https://127.0.0.1:80/a/", "https://127.0.0.1:80/b/", true},
      {"https://127.0.0.1:80/a/", "https://127.0.0.2:80/b/", false},
      {"https://127.0.0.1:80/a/", "https://*:80/b/", false},
      {"https://[::1]:80/a/", "https://[::1]:80/b/", true},
  };
  for (const uint64_t member : {kAlice, kBob}) {
    for (const auto& [one, other, is_refused] : pairs) {
      state_.Clear();
      EXPECT_EQ(Add(kAlice, {.prefixes = {one}, .terms = 'x'}), 0);
      const auto check = [&](char terms) {
        return Check(
            member,
            {.prefixes = {"https://other.test:80/", other}, .server_id = 2, .terms = terms});
      };
      EXPECT_EQ(check('x'), 0) << one << " " << other;
      EXPECT_EQ(check('y'), is_refused ? EADDRINUSE : 0) << one << " " << other;
      if (is_refused) {
        EXPECT_EQ(reason_, ConflictReason::kTerms);
        EXPECT_EQ(member_, kAlice);
        EXPECT_EQ(prefix_, one);
        EXPECT_EQ(wanted_, other);
      }
      EXPECT_EQ(check(0), is_refused ? EADDRINUSE : 0) << "who tells none counts as different";
    }
  }
}

TEST_F(PortStateTest, WhoHasToldNoTermsCountsAsDifferent) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"https://a.test:80/a/"}}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"https://a.test:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(Check(kBob, {.prefixes = {"https://a.test:80/b/"}, .terms = 'x'}), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kTerms);
  EXPECT_EQ(Check(kBob, {.prefixes = {"https://b.test:80/"}, .terms = 'x'}), 0);
}

TEST_F(PortStateTest, TermsMatterToNobodyWithoutTls) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://a.test:80/a/"}}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://a.test:80/b/"}}), 0);
}

TEST_F(PortStateTest, TermsOfOneServerAndOfAQueueMayDiffer) {
  const std::vector<std::string> prefixes = {"https://a.test:80/a/", "https://a.test:80/b/"};
  EXPECT_EQ(Add(kAlice, {.prefixes = prefixes, .queue = "q", .terms = 'x'}), 0);
  // Whoever serves the same prefixes is the same application.
  EXPECT_EQ(
      Check(kBob,
            {.prefixes = prefixes, .queue = "q", .mode = QueueMode::kCreateOrAttach, .terms = 'y'}),
      0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"https://a.test:80/c/"},
                         .queue = "q",
                         .mode = QueueMode::kCreateOrAttach,
                         .terms = 'y'}),
            EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kTerms);
}

TEST_F(PortStateTest, ServersOfAQueueWithOtherPrefixesHaveTheSameTerms) {
  const std::vector<std::string> prefixes = {"https://a.test:80/a/", "https://a.test:80/b/"};
  EXPECT_EQ(Add(kAlice, {.prefixes = {prefixes[0]}, .queue = "q", .terms = 'x'}), 0);
  const auto check = [&](const std::vector<std::string>& wanted, char terms) {
    return Check(
        kBob,
        {.prefixes = wanted, .queue = "q", .mode = QueueMode::kCreateOrAttach, .terms = terms});
  };
  EXPECT_EQ(check({prefixes[0]}, 'y'), 0);
  EXPECT_EQ(check(prefixes, 'x'), 0);
  // A client whom Alice has asked cannot have what Bob alone serves, and does not know it.
  EXPECT_EQ(check(prefixes, 'y'), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kTerms);
  EXPECT_EQ(prefix_, prefixes[0]);
  EXPECT_EQ(wanted_, prefixes[1]);
}

TEST_F(PortStateTest, TermsThatChangeAreToldAgainAndComparedWithOthers) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"https://a.test:80/a/"}, .terms = 'x'}), 0);
  EXPECT_EQ(Add(kBob, {.prefixes = {"https://b.test:80/"}, .terms = 'x'}), 0);
  const Wish changed{.prefixes = {"https://a.test:80/a/"}, .is_again = true, .terms = 'y'};
  EXPECT_FALSE(state_.CheckTerms(kAlice, Wanted(changed)).has_value());
  ASSERT_EQ(state_.EntriesOf(kAlice, Wanted(changed)).size(), 1u);
  EXPECT_EQ(Add(kAlice, changed), 0);
  EXPECT_TRUE(state_.EntriesOf(kAlice, Wanted(changed)).empty());
  EXPECT_EQ(state_.entries().size(), 2u);
  EXPECT_EQ(Check(kBob, {.prefixes = {"https://a.test:80/b/"}, .terms = 'x'}), EADDRINUSE);
  EXPECT_EQ(Add(kBob, {.prefixes = {"https://a.test:80/b/"}, .server_id = 2, .terms = 'y'}), 0);
  const auto conflict = state_.CheckTerms(
      kAlice, Wanted({.prefixes = {"https://a.test:80/a/"}, .is_again = true, .terms = 'z'}));
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->member, kBob);
  EXPECT_EQ(conflict->prefix, "https://a.test:80/b/");
  EXPECT_EQ(conflict->wanted, "https://a.test:80/a/");
}

// -- Queues.

TEST_F(PortStateTest, AQueueIsSharedByThoseWhoAttachToIt) {
  const std::vector<std::string> prefixes = {"http://*:80/a/"};
  EXPECT_EQ(Add(kAlice, {.prefixes = prefixes, .queue = "q"}), 0);
  EXPECT_EQ(Add(kBob, {.prefixes = prefixes, .queue = "q", .mode = QueueMode::kAttach}), 0);
  EXPECT_EQ(Add(3, {.prefixes = prefixes, .queue = "q", .mode = QueueMode::kCreateOrAttach}), 0);
  EXPECT_EQ(Check(4, {.prefixes = prefixes, .queue = "q"}), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kQueueMode);
  EXPECT_EQ(Check(4, {.prefixes = prefixes, .queue = "Q", .mode = QueueMode::kCreateOrAttach}),
            EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kOtherQueue);
  EXPECT_EQ(queue_, "q");
  EXPECT_EQ(Check(4, {.prefixes = prefixes, .mode = QueueMode::kCreateOrAttach}), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kPrefix);
  EXPECT_EQ(queue_, "q");
}

TEST_F(PortStateTest, AServerWithoutAQueueSharesItsPrefixWithNobody) {
  const std::vector<std::string> prefixes = {"http://*:80/a/"};
  EXPECT_EQ(Add(kAlice, {.prefixes = prefixes}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = prefixes, .queue = "q", .mode = QueueMode::kCreateOrAttach}),
            EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kPrefix);
  EXPECT_EQ(queue_, "");
}

TEST_F(PortStateTest, AttachingNeedsAQueueThatIsThere) {
  const Wish attach{.prefixes = {"http://*:80/a/"}, .queue = "q", .mode = QueueMode::kAttach};
  EXPECT_EQ(Check(kBob, attach), ENOENT);
  EXPECT_EQ(prefix_, "q");
  EXPECT_TRUE(state_.AddEntry({kAlice, 1, 1, 0, 500, "q", "http://*:80/a/"}, 0));
  EXPECT_EQ(Check(kBob, attach), ENOENT) << "its owner has gone";
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/a/"}, .queue = "q"}), 0);
  EXPECT_EQ(Check(kBob, attach), 0);
}

TEST_F(PortStateTest, WhoComesBackToAQueueFindsItCreatedByOthersOrNotAtAll) {
  const std::vector<std::string> prefixes = {"http://*:80/a/"};
  EXPECT_EQ(
      Add(kBob, {.prefixes = prefixes, .queue = "q", .mode = QueueMode::kAttach, .is_again = true}),
      0);
  EXPECT_EQ(Add(kAlice, {.prefixes = prefixes, .queue = "q", .is_again = true}), 0);
  EXPECT_EQ(state_.entries().size(), 2u);
}

// -- Ports as such.

TEST_F(PortStateTest, AnExclusivePortIsAlone) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/a/"}, .flags = peer::kEntryExclusive}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://*:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kExclusiveThere);
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/b/"}, .flags = peer::kEntryExclusive}), 0);
}

TEST_F(PortStateTest, TheAddressesOfAnExclusiveServerHaveOneSchemeEach) {
  const auto wish = [](std::vector<std::string> prefixes, uint32_t server_id = 1) {
    return Wish{.prefixes = prefixes, .flags = peer::kEntryExclusive, .server_id = server_id};
  };
  EXPECT_EQ(Add(kAlice, wish({"http://127.0.0.1:80/", "https://127.0.0.2:80/"})), 0);
  EXPECT_EQ(Check(kAlice, wish({"https://127.0.0.3:80/", "http://127.0.0.1:80/a/"})), 0);
  EXPECT_EQ(Check(kAlice, wish({"https://127.0.0.1:80/a/"})), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kScheme);
  EXPECT_EQ(Check(kAlice, wish({"http://*:80/"})), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kScheme);
  EXPECT_EQ(prefix_, "https://127.0.0.2:80/");
  EXPECT_EQ(Check(kAlice, wish({"http://127.0.0.3:80/"}, 2)), EADDRINUSE) << "another server";
  EXPECT_EQ(reason_, ConflictReason::kExclusiveThere);
  EXPECT_EQ(prefix_, "http://127.0.0.1:80/");
}

TEST_F(PortStateTest, NobodyIsExclusiveBesideOthers) {
  EXPECT_EQ(Add(kAlice, {.prefixes = {"http://*:80/a/"}}), 0);
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://*:80/b/"}, .flags = peer::kEntryExclusive}),
            EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kExclusiveWanted);
}

struct Overlap {
  const char* one;
  uint8_t one_flags;
  const char* other;
  uint8_t other_flags;
  int error;
};

TEST_F(PortStateTest, PlainPortsAreInEachOthersWayAsSocketsAre) {
  constexpr uint8_t kPlain = peer::kEntryPlain;
  constexpr uint8_t kIpv4 = peer::kEntryPlain | peer::kEntryIpv4;
  const Overlap cases[] = {
      {"http://*:80/", kPlain, "http://*:80/", kPlain, EADDRINUSE},
      {"http://*:80/", kPlain, "http://127.0.0.1:80/", kPlain, EADDRINUSE},
      {"http://*:80/", kPlain, "http://[::1]:80/", kPlain, EADDRINUSE},
      {"http://127.0.0.1:80/", kPlain, "http://127.0.0.1:80/", kPlain, EADDRINUSE},
      {"http://127.0.0.1:80/", kPlain, "http://127.0.0.2:80/", kPlain, 0},
      {"http://127.0.0.1:80/", kPlain, "http://[::1]:80/", kPlain, 0},
      {"http://*:80/", kIpv4, "http://127.0.0.1:80/", kPlain, EADDRINUSE},
      {"http://*:80/", kIpv4, "http://[::1]:80/", kPlain, 0},
      {"http://*:80/", kPlain, "http://127.0.0.1:80/a/", 0, 0},
      {"http://*:80/", kPlain, "http://*:80/a/", 0, 0},
      {"http://*:80/", kPlain, "http://*:80/", 0, EADDRINUSE},
  };
  for (const Overlap& c : cases) {
    for (const bool is_swapped : {false, true}) {
      const Wish one{.prefixes = {c.one}, .flags = c.one_flags};
      const Wish other{.prefixes = {c.other}, .flags = c.other_flags};
      state_.Clear();
      EXPECT_EQ(Add(kAlice, is_swapped ? other : one), 0);
      EXPECT_EQ(Check(kBob, is_swapped ? one : other), c.error) << c.one << ' ' << c.other;
      const bool are_plain = (c.one_flags & c.other_flags & peer::kEntryPlain) != 0;
      if (c.error != 0) {
        EXPECT_EQ(reason_, are_plain ? ConflictReason::kPlain : ConflictReason::kPrefix);
      }
    }
  }
}

TEST_F(PortStateTest, WorkersOfOneClusterHaveThePortAsAWhole) {
  constexpr uint8_t kFed = peer::kEntryPlain | peer::kEntryFed;
  const auto worker = [](const char* queue, uint8_t flags, uint32_t server_id) {
    return Wish{.prefixes = {"http://*:80/"},
                .flags = flags,
                .queue = queue,
                .mode = QueueMode::kCreateOrAttach,
                .server_id = server_id};
  };
  ASSERT_EQ(Add(kAlice, worker("cluster 1", kFed, 1)), 0);
  EXPECT_EQ(Check(kBob, worker("cluster 1", kFed, 1)), 0);
  EXPECT_EQ(Check(kBob, worker("cluster 1", peer::kEntryPlain, 1)), 0) << "by a socket";
  EXPECT_EQ(Check(kBob, worker("cluster 2", kFed, 1)), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kPlain);
  EXPECT_EQ(Check(kAlice, worker("cluster 1", kFed, 2)), EADDRINUSE) << "twice in one process";
  EXPECT_EQ(Check(kBob, worker("cluster 1", kFed | peer::kEntryIpv4, 1)), EADDRINUSE);
  const Wish bound{.prefixes = {"http://127.0.0.1:80/"},
                   .flags = kFed,
                   .queue = "cluster 1",
                   .mode = QueueMode::kCreateOrAttach};
  EXPECT_EQ(Check(kBob, bound), EADDRINUSE) << "another address";
  const Wish alone{.prefixes = {"http://*:80/"}, .flags = kFed, .queue = "cluster 1"};
  EXPECT_EQ(Check(kBob, alone), EADDRINUSE) << "queueMode create";
}

TEST_F(PortStateTest, AddressesThatOthersAcceptOnAreToldOnce) {
  constexpr uint8_t kFed = peer::kEntryPlain | peer::kEntryFed;
  const auto add = [&](uint64_t member, uint32_t id, uint8_t flags, const char* prefix) {
    ASSERT_TRUE(state_.AddEntry({member, 1, id, flags, 0, "q", prefix}, 0));
  };
  add(kAlice, 1, 0, "http://127.0.0.9:80/");
  EXPECT_TRUE(state_.FedAddresses().empty());
  add(kAlice, 2, kFed, "http://127.0.0.1:80/");
  add(kBob, 2, kFed, "http://127.0.0.1:80/");
  add(kAlice, 3, kFed, "http://[fe80::1]:80/");
  add(kAlice, 4, kFed, "http://*:80/");
  add(kBob, 4, kFed | peer::kEntryIpv4, "http://*:80/");
  EXPECT_EQ(state_.FedAddresses(),
            (std::vector<std::string>{"127.0.0.1", "fe80::1", "::", "0.0.0.0"}));
  state_.RemoveMember(kAlice, 0);
  EXPECT_EQ(state_.FedAddresses(), (std::vector<std::string>{"127.0.0.1", "0.0.0.0"}))
      << "nobody accepts for who has died";
}

// -- Absent owners.

TEST_F(PortStateTest, TheNextOwnerTakesAnAbsentOnesPlace) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 7, 0, 500, "", "http://*:80/a/"}, 1000));
  EXPECT_EQ(state_.NextExpiry(), 1500u);
  EXPECT_TRUE(state_.entries().front().is_absent());
  EXPECT_EQ(Add(kBob, {.prefixes = {"http://*:80/A/"}}), 0);
  ASSERT_EQ(state_.entries().size(), 1u);
  EXPECT_EQ(state_.entries().front().entry.member, kBob);
  EXPECT_EQ(state_.NextExpiry(), std::nullopt);
}

TEST_F(PortStateTest, AbsentOwnersAreOfflineForAWhileWhenTheirTimeIsOver) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 7, 0, 500, "", "http://*:80/a/"}, 1000));
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 8, 0, 100, "", "http://*:80/b/"}, 1000));
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 9, 0, 0, "", "http://*:80/c/"}, 1000));
  EXPECT_EQ(state_.NextExpiry(), 1100u);
  EXPECT_TRUE(state_.Expire(1099).empty());
  const PortState::Expired first = state_.Expire(1100);
  EXPECT_TRUE(first.gone.empty());
  ASSERT_EQ(first.offline.size(), 1u);
  EXPECT_EQ(first.offline[0].prefix_id, 8u);
  EXPECT_EQ(first.offline[0].flags & peer::kEntryOffline, peer::kEntryOffline);
  EXPECT_EQ(first.offline[0].absent_ms, limits::kOfflineMs);
  EXPECT_TRUE(std::next(state_.entries().begin())->is_offline());
  EXPECT_TRUE(state_.Expire(1100).empty());
  const PortState::Expired second = state_.Expire(1100 + limits::kOfflineMs);
  ASSERT_EQ(second.gone.size(), 1u);
  EXPECT_EQ(second.gone[0].prefix_id, 8u);
  ASSERT_EQ(second.offline.size(), 1u);
  EXPECT_EQ(second.offline[0].prefix_id, 7u);
  EXPECT_EQ(state_.entries().size(), 2u);
}

TEST_F(PortStateTest, NobodyIsAbsentForLongerThanTheLimit) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 7, 0, UINT32_MAX, "", "http://*:80/a/"}, 1000));
  EXPECT_EQ(state_.NextExpiry(), 1000u + limits::kAbsentMsMax);
}

TEST_F(PortStateTest, WhatADeadMemberServedIsOfflineForAWhile) {
  ASSERT_TRUE(state_.AddMember({kAlice, 10, 0, 1, "a"}));
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 1, 0, 0, "", "http://*:80/a/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 2, 0, 500, "", "http://*:80/b/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kBob, 1, 1, 0, 0, "", "http://*:80/c/"}, 0));
  state_.RemoveMember(kAlice, 100);
  EXPECT_TRUE(state_.members().empty());
  const std::vector<StateEntry> left = state_.EntriesOfMember(kAlice);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_TRUE(left[0].is_offline());
  EXPECT_EQ(left[0].absent_until_ms, 100 + limits::kOfflineMs);
  EXPECT_TRUE(left[1].is_absent());
  EXPECT_FALSE(left[1].is_offline());
  EXPECT_FALSE(state_.EntriesOfMember(kBob)[0].is_absent());
  // Somebody else may have it at once.
  peer::Register wanted;
  wanted.server_id = 1;
  wanted.prefixes = {{1, "http://*:80/a/"}};
  EXPECT_FALSE(state_.Check(kBob, wanted).has_value());
  ASSERT_TRUE(state_.AddEntry({kBob, 1, 3, 0, 0, "", "http://*:80/A/"}, 200));
  EXPECT_EQ(state_.EntriesOfMember(kAlice).size(), 1u);
}

TEST_F(PortStateTest, MembersThatHaveLeftAreCounted) {
  for (const uint64_t id : {kAlice, kBob}) {
    ASSERT_TRUE(state_.AddMember({id, 10, 0, 1, "a"}));
  }
  EXPECT_EQ(state_.departures(), 0u);
  state_.RemoveMember(kAlice, 0);
  state_.RemoveMember(kAlice, 0);
  EXPECT_EQ(state_.departures(), 1u);
  state_.Clear();
  EXPECT_EQ(state_.departures(), 2u);
}

TEST_F(PortStateTest, WhatOthersOfItsQueueServeIsNotOffline) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 1, 0, 0, "q", "http://*:80/a/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kAlice, 2, 1, 0, 0, "q", "http://*:80/b/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kAlice, 3, 1, 0, 0, "q", "http://*:80/b/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kBob, 1, 1, 0, 0, "q", "http://*:80/a/"}, 0));
  state_.RemoveMember(kAlice, 100);
  EXPECT_EQ(state_.EntriesOfMember(kAlice).size(), 1u);
  EXPECT_EQ(state_.EntriesOfMember(kAlice)[0].entry.prefix, "http://*:80/b/");
}

// Others have told of the earlier owner, which the member has taken the place of.
TEST_F(PortStateTest, TheLastOwnerOfAPrefixIsExpectedBackAndNoEarlierOne) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 1, 0, 0, "", "http://*:80/a/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kBob, 1, 1, 0, 500, "", "http://*:80/a/"}, 0));
  const std::vector<peer::EntryGone> removed = state_.RemoveMember(kAlice, 100);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].member, kBob);
  ASSERT_EQ(state_.entries().size(), 1u);
  EXPECT_EQ(state_.entries().front().entry.member, kAlice);
  EXPECT_EQ(state_.entries().front().absent_until_ms, 100 + limits::kOfflineMs);
}

TEST_F(PortStateTest, EntriesAreRemovedByServerAndNumber) {
  ASSERT_TRUE(state_.AddEntry({kAlice, 1, 1, 0, 0, "", "http://*:80/a/"}, 0));
  ASSERT_TRUE(state_.AddEntry({kAlice, 2, 1, 0, 0, "", "http://*:80/b/"}, 0));
  EXPECT_EQ(state_.EntriesOfServer(kAlice, 2).size(), 1u);
  state_.RemoveEntry({kAlice, 2, 2});
  EXPECT_EQ(state_.entries().size(), 2u);
  state_.RemoveEntry({kAlice, 2, 1});
  state_.RemoveEntry({kAlice, 2, 1});
  EXPECT_EQ(state_.entries().size(), 1u);
}

// -- Limits.

TEST_F(PortStateTest, AFullPortTakesChangesOfWhatItHas) {
  const auto prefix = [](size_t i) { return "http://*:80/" + std::to_string(i) + "/"; };
  for (uint32_t i = 0; i < limits::kEntriesMax; ++i) {
    ASSERT_TRUE(state_.AddEntry({kAlice, 1, i, 0, 0, "", prefix(i)}, 0));
  }
  EXPECT_EQ(Check(kBob, {.prefixes = {"http://*:80/a/"}}), ENOSPC);
  EXPECT_EQ(reason_, ConflictReason::kEntries);
  EXPECT_EQ(Check(kAlice, {.prefixes = {prefix(0)}}), 0) << "registered again";
  EXPECT_FALSE(state_.AddEntry({kBob, 1, 1, 0, 0, "", "http://*:80/a/"}, 0));
  EXPECT_TRUE(state_.AddEntry({kAlice, 1, 0, 0, 500, "", prefix(0)}, 0)) << "now absent";
  EXPECT_EQ(state_.entries().size(), limits::kEntriesMax);
}

TEST_F(PortStateTest, MembersAreLimitedAndTheOnesThereMayComeBack) {
  EXPECT_FALSE(state_.AddMember({0, 1, 0, 1, ""}));
  for (uint64_t id = 1; id <= limits::kMembersMax; ++id) {
    ASSERT_TRUE(state_.AddMember({id, 1, 0, 1, ""}));
  }
  EXPECT_FALSE(state_.AddMember({limits::kMembersMax + 1, 1, 0, 1, ""}));
  EXPECT_TRUE(state_.AddMember({1, 2, 0, 1, "again"}));
  EXPECT_EQ(state_.members().at(1).program, "again");
}

TEST_F(PortStateTest, APortSpeaksTlsOrItDoesNot) {
  ASSERT_EQ(Add(kAlice, {{"http://*:80/a/"}}), 0);
  EXPECT_EQ(Check(kBob, {{"https://*:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(reason_, ConflictReason::kScheme);
  EXPECT_EQ(prefix_, "http://*:80/a/");
  EXPECT_EQ(Check(kBob, {{"https://b.test:80/"}}), EADDRINUSE);
  EXPECT_EQ(Check(kBob, {{"http://b.test:80/"}}), 0);
}

TEST_F(PortStateTest, NorDoesAServerSpeakBothOnOnePort) {
  EXPECT_EQ(Check(kAlice, {{"https://*:80/a/", "http://*:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(prefix_, "https://*:80/a/");
  EXPECT_EQ(Check(kAlice, {{"https://127.0.0.1:80/a/", "http://127.0.0.2:80/b/"}}), 0);
  ASSERT_EQ(Add(kAlice, {{"http://*:80/a/"}}), 0);
  EXPECT_EQ(Check(kAlice, {{"https://*:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(prefix_, "http://*:80/a/");
}

TEST_F(PortStateTest, AddressesOfTheirOwnMaySpeakDifferently) {
  ASSERT_EQ(Add(kAlice, {{"http://127.0.0.1:80/"}}), 0);
  EXPECT_EQ(Check(kBob, {{"https://127.0.0.2:80/"}}), 0);
  EXPECT_EQ(Check(kBob, {{"https://127.0.0.1:80/b/"}}), EADDRINUSE);
  EXPECT_EQ(Check(kBob, {{"https://*:80/"}}), EADDRINUSE);
}

}  // namespace
}  // namespace httpsys::sharing
