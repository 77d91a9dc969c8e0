// What lanes know of a port, made from what its members have agreed on.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sharing/port_routing.h"
#include "sharing/port_state.h"

namespace httpsys::sharing {
namespace {

constexpr uint64_t kSelf = 1;
constexpr uint64_t kPeer = 2;

class PortRoutesTest : public testing::Test {
 protected:
  void Add(uint64_t member, uint32_t server_id, uint32_t prefix_id, const std::string& prefix,
           uint32_t absent_ms = 0) {
    ASSERT_TRUE(state_.AddEntry({member, server_id, prefix_id, 0, absent_ms, "", prefix}, 1000));
  }
  std::shared_ptr<const PortRoutes> Routes(const std::vector<UrlPrefix>& reserved = {},
                                           bool has_idle = false, uint64_t self = kSelf) {
    PortRouting routing(80, self);
    routing.Reserve(reserved);
    return routing.Update(state_.entries_to_follow(), has_idle);
  }
  const PortRoutes::Target* Find(const PortRoutes& routes, const char* host, const char* target) {
    LocalAddress local;
    local.is_ip = ParseIpAddress("127.0.0.1", &local.ip);
    const Route route = routes.Find(host, target, local);
    return route.status == RouteStatus::kMatch ? &routes.target(route.id) : nullptr;
  }

  PortState state_{80};
};

TEST_F(PortRoutesTest, NothingRegisteredIsNoTarget) {
  const auto routes = Routes();
  EXPECT_EQ(routes->port(), 80);
  EXPECT_EQ(routes->target_count(), 0u);
  EXPECT_FALSE(routes->is_shared());
  EXPECT_FALSE(routes->has_peers());
  EXPECT_EQ(Find(*routes, "a", "/"), nullptr);
}

TEST_F(PortRoutesTest, AServerThatListensWithoutAPrefixKeepsThePort) {
  EXPECT_FALSE(Routes()->is_used());
  UrlPrefix reserved;
  ASSERT_EQ(ParseUrlPrefix("http://*:80/a/", &reserved), PrefixError::kNone);
  EXPECT_FALSE(Routes({reserved})->is_used()) << "nobody is left";
  const auto routes = Routes({reserved}, true);
  EXPECT_TRUE(routes->is_used());
  EXPECT_TRUE(routes->is_shared());
  EXPECT_TRUE(routes->local_servers().empty()) << "nothing can be handed over to it";
  EXPECT_EQ(routes->Find("h", "/a/x", {}).status, RouteStatus::kReserved);
  EXPECT_EQ(routes->Find("h", "/b", {}).status, RouteStatus::kNotFound);
  EXPECT_TRUE(Routes({}, true)->is_shared());
}

TEST_F(PortRoutesTest, OneServerWithSeveralPrefixesSharesThePortWithNobody) {
  Add(kSelf, 7, 1, "http://*:80/a/");
  Add(kSelf, 7, 2, "http://*:80/b/");
  const auto routes = Routes();
  EXPECT_FALSE(routes->is_shared());
  EXPECT_EQ(routes->local_servers(), std::vector<uint32_t>{7});
  const PortRoutes::Target* target = Find(*routes, "a", "/b/x");
  ASSERT_NE(target, nullptr);
  ASSERT_EQ(target->owners.size(), 1u);
  EXPECT_EQ(target->owners[0].member, 0u) << "this engine";
  EXPECT_EQ(target->owners[0].server_id, 7u);
  EXPECT_EQ(target->owners[0].prefix_id, 2u);
  EXPECT_EQ(Find(*routes, "a", "/c"), nullptr);
}

TEST_F(PortRoutesTest, TwoServersOfOneEngineShareIt) {
  Add(kSelf, 7, 1, "http://*:80/a/");
  Add(kSelf, 8, 1, "http://*:80/b/");
  const auto routes = Routes();
  EXPECT_TRUE(routes->is_shared());
  EXPECT_FALSE(routes->has_peers());
  EXPECT_EQ(routes->local_servers(), (std::vector<uint32_t>{7, 8}));
}

TEST_F(PortRoutesTest, ServersWithTheSameNumberInTwoMembersAreTwo) {
  Add(kSelf, 7, 1, "http://*:80/a/");
  Add(kPeer, 7, 1, "http://*:80/b/");
  Add(kPeer, 7, 2, "http://*:80/c/");
  const auto routes = Routes();
  EXPECT_TRUE(routes->is_shared());
  EXPECT_EQ(routes->peers(), std::vector<uint64_t>{kPeer});
  EXPECT_EQ(routes->local_servers(), std::vector<uint32_t>{7});
  EXPECT_EQ(Find(*routes, "a", "/b/")->owners[0].member, kPeer);
}

TEST_F(PortRoutesTest, OwnersOfAQueueAreOneTarget) {
  Add(kSelf, 7, 1, "http://*:80/a/");
  Add(kPeer, 3, 5, "http://*:80/A/");
  Add(3, 4, 6, "http://*:80/%61/");
  const auto routes = Routes();
  ASSERT_EQ(routes->target_count(), 1u);
  const PortRoutes::Target* target = Find(*routes, "a", "/a/");
  ASSERT_NE(target, nullptr);
  ASSERT_EQ(target->owners.size(), 3u);
  EXPECT_EQ(target->owners[1].member, kPeer);
  EXPECT_EQ(target->owners[1].prefix_id, 5u);
  EXPECT_EQ(routes->peers(), (std::vector<uint64_t>{kPeer, 3}));
}

TEST_F(PortRoutesTest, CountsTheOwnersOfAPrefix) {
  Add(kSelf, 7, 1, "http://*:80/a/");
  Add(kPeer, 3, 5, "http://*:80/a/");
  Add(kSelf, 7, 2, "http://*:80/b/");
  Add(kPeer, 3, 6, "http://*:80/gone/", 5000);
  const auto routes = Routes();
  const auto count = [&](const char* text) {
    UrlPrefix prefix;
    EXPECT_EQ(ParseUrlPrefix(text, &prefix), PrefixError::kNone);
    return routes->CountOwners(prefix);
  };
  EXPECT_EQ(count("http://*:80/a/"), 2u);
  EXPECT_EQ(count("http://*:80/b/"), 1u);
  EXPECT_EQ(count("http://*:80/gone/"), 0u) << "it is absent";
  EXPECT_EQ(count("http://*:80/a/b/"), 0u);
  EXPECT_EQ(routes->CountOwners(7), 0u) << "the server listens on prefixes";
}

TEST_F(PortRoutesTest, CountsTheOwnersOfAWholePort) {
  for (const uint64_t member : {kPeer, kSelf, uint64_t{3}}) {
    ASSERT_TRUE(state_.AddEntry({member, 7, 0, peer::kEntryPlain, 0, "q", "http://*:80/"}, 1000));
  }
  Add(kSelf, 8, 1, "http://*:80/a/");
  const auto routes = Routes();
  EXPECT_EQ(routes->CountOwners(7), 3u);
  EXPECT_EQ(routes->CountOwners(8), 0u);
}

TEST_F(PortRoutesTest, WorkersOfOneClusterLookAtRequestsOnlyBesideOthers) {
  constexpr uint8_t kFed = peer::kEntryPlain | peer::kEntryFed;
  const auto add = [&](uint64_t member, uint8_t flags, const char* prefix) {
    ASSERT_TRUE(state_.AddEntry({member, 1, 0, flags, 0, "cluster 1", prefix}, 1000));
  };
  add(kSelf, kFed, "http://*:80/");
  add(kPeer, kFed, "http://*:80/");
  auto routes = Routes();
  EXPECT_FALSE(routes->is_shared());
  EXPECT_TRUE(routes->has_peers());
  EXPECT_FALSE(routes->passes_on());
  const PortRoutes::Target* target = Find(*routes, "a", "/");
  ASSERT_NE(target, nullptr);
  ASSERT_EQ(target->owners.size(), 2u);
  EXPECT_TRUE(target->owners[0].is_plain && target->owners[0].is_fed);
  EXPECT_TRUE(Routes({}, false, 3)->is_shared()) << "to who is none of them";
  UrlPrefix reserved;
  ASSERT_EQ(ParseUrlPrefix("http://*:80/a/", &reserved), PrefixError::kNone);
  EXPECT_TRUE(Routes({reserved})->is_shared());
  EXPECT_TRUE(Routes({}, true)->is_shared());
  ASSERT_TRUE(state_.AddEntry({3, 1, 1, 0, 0, "", "http://*:80/a/"}, 1000));
  EXPECT_TRUE(Routes()->passes_on());
  state_.RemoveMember(3, 1000);
  EXPECT_TRUE(Routes()->is_shared()) << "its requests are not the workers'";
  EXPECT_EQ(state_.Expire(1'000'000).gone.size(), 1u);
  EXPECT_FALSE(Routes()->is_shared());
}

TEST_F(PortRoutesTest, WorkersWithASocketShareOutWhatTheyAccept) {
  ASSERT_TRUE(state_.AddEntry({kSelf, 1, 0, peer::kEntryPlain, 0, "q", "http://*:80/"}, 1000));
  ASSERT_TRUE(state_.AddEntry({kPeer, 1, 0, peer::kEntryPlain, 0, "q", "http://*:80/"}, 1000));
  EXPECT_TRUE(Routes()->passes_on());
}

TEST_F(PortRoutesTest, AnAbsentOwnerIsATargetThatWaits) {
  Add(kPeer, 7, 1, "http://*:80/a/", 500);
  const auto routes = Routes();
  EXPECT_TRUE(routes->is_shared());
  EXPECT_FALSE(routes->has_peers());
  const PortRoutes::Target* target = Find(*routes, "a", "/a/");
  ASSERT_NE(target, nullptr);
  EXPECT_TRUE(target->owners.empty());
  EXPECT_EQ(target->absent_until_ms, 1500u);
}

TEST_F(PortRoutesTest, TheLongestPrefixOfTheStrongestHostWins) {
  Add(kSelf, 1, 1, "http://*:80/");
  Add(kPeer, 1, 1, "http://*:80/a/");
  Add(3, 1, 1, "http://shop.test:80/");
  const auto routes = Routes();
  EXPECT_EQ(Find(*routes, "x", "/b")->owners[0].member, 0u);
  EXPECT_EQ(Find(*routes, "x", "/a/b")->owners[0].member, kPeer);
  EXPECT_EQ(Find(*routes, "shop.test", "/a/b")->owners[0].member, 3u);
}

TEST_F(PortRoutesTest, ANameBelongsToWhoHasRegisteredItsHost) {
  Add(kPeer, 1, 1, "https://a.test:80/x/");
  Add(kPeer, 1, 2, "https://both.test:80/x/");
  Add(kSelf, 7, 1, "https://both.test:80/y/");
  Add(kPeer, 1, 3, "https://*.sub.test:80/");
  Add(kSelf, 7, 2, "https://*.eu.sub.test:80/");
  const auto routes = Routes();
  const auto owner = [&](const char* name) { return routes->FindHost(name, {}); };
  EXPECT_TRUE(owner("A.test").is_named);
  EXPECT_EQ(owner("A.test").member, kPeer);
  EXPECT_EQ(owner("both.test").member, 0u) << "this engine first";
  EXPECT_EQ(owner("x.sub.test").member, kPeer);
  EXPECT_EQ(owner("x.eu.sub.test").member, 0u) << "the longest suffix";
  EXPECT_FALSE(owner("sub.test").is_there);
  EXPECT_FALSE(owner("").is_there);
}

TEST_F(PortRoutesTest, ANameIsAlsoThatOfTheServerWhichIsAskedFor) {
  Add(kPeer, 9, 1, "https://a.test:80/c/");
  Add(kSelf, 7, 1, "https://a.test:80/a/");
  Add(kSelf, 8, 1, "https://a.test:80/b/");
  Add(kPeer, 8, 1, "https://b.test:80/");
  const auto routes = Routes();
  for (const uint32_t id : {7u, 8u}) {
    const PortRoutes::HostOwner owner = routes->FindHost("a.test", {}, id);
    EXPECT_TRUE(owner.is_preferred);
    EXPECT_EQ(owner.member, 0u);
    EXPECT_EQ(owner.server_id, id);
  }
  // The ids of another member are other servers.
  EXPECT_FALSE(routes->FindHost("a.test", {}, 9).is_preferred);
  EXPECT_FALSE(routes->FindHost("b.test", {}, 8).is_preferred);
  EXPECT_FALSE(routes->FindHost("a.test", {}).is_preferred);
}

TEST_F(PortRoutesTest, OtherNamesBelongToThoseWhoSpeakForAnyHost) {
  Add(kPeer, 1, 1, "https://a.test:80/");
  Add(kPeer, 1, 2, "https://*:80/x/");
  const auto before = Routes()->FindHost("b.test", {});
  EXPECT_TRUE(before.is_there);
  EXPECT_FALSE(before.is_named);
  EXPECT_EQ(before.member, kPeer);
  Add(kSelf, 7, 1, "https://+:80/y/");
  EXPECT_EQ(Routes()->FindHost("", {}).member, 0u);
  EXPECT_EQ(Routes()->FindHost("a.test", {}).member, kPeer);
}

LocalAddress At(const char* text) {
  LocalAddress local;
  local.is_ip = ParseIpAddress(text, &local.ip);
  return local;
}

TEST_F(PortRoutesTest, AHostWithoutANameIsWhoHasTheAddress) {
  Add(kSelf, 7, 1, "https://*:80/");
  Add(kPeer, 7, 1, "https://127.0.0.2:80/");
  EXPECT_EQ(Routes()->FindHost("a", At("127.0.0.1")).member, 0u);
  EXPECT_EQ(Routes()->FindHost("a", At("127.0.0.2")).member, kPeer);
  EXPECT_FALSE(Routes()->FindHost("a", At("127.0.0.2")).is_named);
  EXPECT_EQ(Routes()->FindHost("a", {}).member, 0u);
}

TEST_F(PortRoutesTest, WhatIsSpokenGoesByAddressWhereBothAre) {
  Add(kSelf, 7, 1, "http://127.0.0.1:80/a/");
  Add(kSelf, 7, 2, "http://127.0.0.1:80/b/");
  EXPECT_FALSE(Routes()->is_mixed());
  EXPECT_EQ(Routes()->FindPlace(At("127.0.0.1")), nullptr);
  Add(kPeer, 8, 1, "https://127.0.0.2:80/");
  Add(kPeer, 8, 2, "https://127.0.0.2:80/y/");
  Add(kSelf, 9, 1, "https://127.0.0.2:80/x/");
  const auto routes = Routes();
  ASSERT_TRUE(routes->is_mixed());
  const PortRoutes::Place* plain = routes->FindPlace(At("127.0.0.1"));
  ASSERT_NE(plain, nullptr);
  EXPECT_FALSE(plain->is_secure);
  EXPECT_TRUE(plain->peers.empty());
  const PortRoutes::Place* secure = routes->FindPlace(At("127.0.0.2"));
  ASSERT_NE(secure, nullptr);
  EXPECT_TRUE(secure->is_secure);
  EXPECT_EQ(secure->peers, std::vector<uint64_t>{kPeer}) << "once, although with two prefixes";
  EXPECT_EQ(routes->FindPlace(At("127.0.0.3")), nullptr);
  EXPECT_EQ(routes->FindPlace({}), nullptr);
}

TEST_F(PortRoutesTest, TheMemberThatHadAnAddressFirstIsTheFirstOneThere) {
  Add(kSelf, 7, 1, "http://127.0.0.1:80/");
  Add(3, 8, 1, "https://127.0.0.3:80/");
  Add(kPeer, 8, 1, "https://127.0.0.2:80/a/");
  Add(3, 8, 2, "https://127.0.0.2:80/b/");
  Add(kPeer, 8, 2, "https://127.0.0.2:80/c/");
  EXPECT_EQ(Routes()->FindPlace(At("127.0.0.2"))->peers, (std::vector<uint64_t>{kPeer, 3}));
  state_.RemoveEntry({kPeer, 8, 1});
  EXPECT_EQ(Routes()->FindPlace(At("127.0.0.2"))->peers, (std::vector<uint64_t>{3, kPeer}));
  state_.RemoveEntry({3, 8, 2});
  state_.RemoveEntry({kPeer, 8, 2});
  EXPECT_EQ(Routes()->FindPlace(At("127.0.0.2")), nullptr);
  EXPECT_EQ(Routes()->FindPlace(At("127.0.0.3"))->peers, std::vector<uint64_t>{3});
}

TEST_F(PortRoutesTest, AnAddressSpeaksWhatItDidUntilSomebodyElseHasIt) {
  Add(kPeer, 8, 1, "https://127.0.0.2:80/");
  state_.RemoveMember(kPeer, 1000);
  Add(kSelf, 7, 1, "http://127.0.0.1:80/");
  const auto before = Routes();
  EXPECT_TRUE(before->FindPlace(At("127.0.0.2"))->is_secure);
  EXPECT_TRUE(before->FindPlace(At("127.0.0.2"))->peers.empty());
  Add(kSelf, 7, 2, "http://127.0.0.2:80/");
  EXPECT_FALSE(Routes()->FindPlace(At("127.0.0.2"))->is_secure);
}

}  // namespace
}  // namespace httpsys::sharing
