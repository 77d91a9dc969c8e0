// Routes that follow what is registered.

#include "sharing/port_routing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "sharing/port_state.h"

namespace httpsys::sharing {
namespace {

constexpr uint64_t kSelf = 1;

// Hosts of every kind, and both schemes at an address.
const std::vector<std::string> kPool = {
    "http://*:80/",          "http://*:80/a/",          "http://*:80/a/b/",
    "http://+:80/c/",        "http://site.test:80/",    "http://site.test:80/a/",
    "http://*.test:80/",     "http://127.0.0.1:80/",    "http://127.0.0.1:80/a/",
    "https://127.0.0.1:80/", "https://127.0.0.2:80/x/", "http://[::1]:80/",
};
const std::vector<std::string> kTargets = {"/", "/a/1", "/a/b/2", "/c/3", "/x/4"};

LocalAddress Local(const char* ip) {
  LocalAddress local;
  local.is_ip = ParseIpAddress(ip, &local.ip);
  return local;
}

std::string TextOf(const PortRoutes::Owner& owner) {
  return std::to_string(owner.member) + "." + std::to_string(owner.server_id) + "." +
         std::to_string(owner.prefix_id) + (owner.is_plain ? "p" : "") + (owner.is_fed ? "f" : "");
}

// All that lanes can ask, but for the ids of targets.
std::string Describe(const PortRoutes& routes) {
  std::string text = std::to_string(routes.target_count()) + (routes.is_shared() ? " shared" : "") +
                     (routes.is_used() ? " used" : "") + (routes.is_mixed() ? " mixed" : "");
  // Their order goes by what has been there before.
  const std::set<uint64_t> peers(routes.peers().begin(), routes.peers().end());
  const std::set<uint32_t> own(routes.local_servers().begin(), routes.local_servers().end());
  for (const uint64_t peer : peers) text += " peer " + std::to_string(peer);
  for (const uint32_t id : own) text += " own " + std::to_string(id);
  for (const char* ip : {"127.0.0.1", "127.0.0.2", "::1"}) {
    const LocalAddress local = Local(ip);
    text += std::string("\n") + ip;
    if (const PortRoutes::Place* place = routes.FindPlace(local)) {
      text += place->is_secure ? " secure" : " plain";
      const std::set<uint64_t> there(place->peers.begin(), place->peers.end());
      for (const uint64_t peer : there) text += " " + std::to_string(peer);
    }
    for (const char* name : {"site.test", "other.test", "any"}) {
      const PortRoutes::HostOwner host = routes.FindHost(name, local);
      text += std::string("\n  ") + name;
      if (host.is_there) text += " " + std::to_string(host.member) + std::to_string(host.server_id);
      for (const std::string& target : kTargets) {
        const Route route = routes.Find(name, target, local);
        text += "\n    " + target + " " + std::to_string(static_cast<int>(route.status));
        if (route.status != RouteStatus::kMatch) continue;
        const PortRoutes::Target& found = routes.target(route.id);
        text += " until " + std::to_string(found.absent_until_ms);
        if (found.has_peers) text += " peers";
        for (const PortRoutes::Owner& owner : found.owners) text += " " + TextOf(owner);
      }
    }
  }
  return text;
}

std::vector<UrlPrefix> ReservedOf(std::mt19937* random) {
  std::vector<UrlPrefix> reserved;
  for (const std::string& text : kPool) {
    UrlPrefix prefix;
    EXPECT_EQ(ParseUrlPrefix(text, &prefix), PrefixError::kNone);
    if ((*random)() % 6 == 0 && !prefix.is_https) reserved.push_back(prefix);
  }
  return reserved;
}

// Makes a random change of what is registered.
void Change(std::mt19937* random, PortState* state, uint64_t now_ms) {
  const auto one_of = [&](uint32_t count) { return static_cast<uint32_t>((*random)() % count); };
  const uint64_t member = 1 + one_of(3);
  const uint32_t server = 1 + one_of(2);
  const uint32_t prefix = one_of(4);
  switch (one_of(12)) {
    case 0:
      (void)state->RemoveMember(member, now_ms);
      break;
    case 1:
    case 2:
    case 3:
      state->RemoveEntry({member, server, prefix});
      break;
    case 4:
      (void)state->Expire(now_ms);
      break;
    default: {
      constexpr uint8_t kWorker = peer::kEntryPlain | peer::kEntryFed;
      const uint8_t flags = std::vector<uint8_t>{0, peer::kEntryPlain, kWorker}[one_of(3)];
      const uint32_t absent_ms = one_of(5) == 0 ? 1 + one_of(500) : 0;
      const uint8_t offline = absent_ms != 0 && one_of(2) == 0 ? peer::kEntryOffline : 0;
      const std::string& text = kPool[one_of(static_cast<uint32_t>(kPool.size()))];
      EXPECT_TRUE(state->AddEntry({member, server, prefix, static_cast<uint8_t>(flags | offline),
                                   absent_ms, one_of(2) == 0 ? "" : "q", text},
                                  now_ms));
    }
  }
}

// Returns a state of its own with the same entries.
PortState CopyOf(const PortState& state) {
  PortState copy(80);
  for (const StateEntry& there : state.entries()) {
    peer::Entry entry = there.entry;
    entry.absent_ms = there.is_absent() ? 1 : 0;
    EXPECT_TRUE(copy.AddEntry(entry, there.is_absent() ? there.absent_until_ms - 1 : 0));
  }
  return copy;
}

// Versions that are made from the last one are as those that are made from nothing, and stay as
// they are.
TEST(PortRouting, FollowsEveryChange) {
  std::mt19937 random(20261127);
  for (int run = 0; run < 40; ++run) {
    PortState state(80);
    PortRouting followed(80, kSelf);
    std::vector<std::pair<std::shared_ptr<const PortRoutes>, std::string>> kept;
    std::vector<UrlPrefix> reserved;
    uint64_t now_ms = 1'000;
    for (int step = 0; step < 200; ++step) {
      now_ms += random() % 200;
      for (uint32_t i = 0; i <= random() % 4; ++i) Change(&random, &state, now_ms);
      const bool has_idle = random() % 8 == 0;
      if (random() % 40 == 0) {
        reserved = ReservedOf(&random);
        followed.Reserve(reserved);
      }
      const auto routes = followed.Update(state.entries_to_follow(), has_idle);
      PortState copy = CopyOf(state);
      PortRouting anew(80, kSelf);
      anew.Reserve(reserved);
      const auto fresh = anew.Update(copy.entries_to_follow(), has_idle);
      const std::string text = Describe(*fresh);
      ASSERT_EQ(Describe(*routes), text) << "run " << run << ", step " << step;
      kept.emplace_back(routes, text);
    }
    for (const auto& [routes, text] : kept) ASSERT_EQ(Describe(*routes), text) << "run " << run;
  }
}

// A port begins and ceases to be mixed with one prefix, whatever else is there.
TEST(PortRouting, KnowsThePlacesOfManyAddresses) {
  constexpr uint32_t kAddresses = 300;
  const auto address_of = [](uint32_t i) {
    return "127.0." + std::to_string(i / 200) + "." + std::to_string(1 + i % 200);
  };
  PortState state(80);
  PortRouting routing(80, kSelf);
  for (uint32_t i = 0; i < kAddresses; ++i) {
    const uint64_t member = 2 + i % 2;
    ASSERT_TRUE(state.AddEntry({member, 1, i, 0, 0, "", "http://" + address_of(i) + ":80/"}, 1));
    EXPECT_FALSE(routing.Update(state.entries_to_follow(), false)->is_mixed());
  }
  for (uint32_t step = 0; step < 3; ++step) {
    ASSERT_TRUE(state.AddEntry({4, 1, 1, 0, 0, "", "https://127.1.0.1:80/"}, 1));
    const auto mixed = routing.Update(state.entries_to_follow(), false);
    ASSERT_TRUE(mixed->is_mixed());
    EXPECT_TRUE(mixed->FindPlace(Local("127.1.0.1"))->is_secure);
    for (uint32_t i = 0; i < kAddresses; ++i) {
      const PortRoutes::Place* place = mixed->FindPlace(Local(address_of(i).c_str()));
      ASSERT_EQ(place != nullptr, i % 3 >= step) << i;
      if (place == nullptr) continue;
      EXPECT_FALSE(place->is_secure);
      EXPECT_EQ(place->peers, std::vector<uint64_t>{2 + i % 2});
    }
    state.RemoveEntry({4, 1, 1});
    for (uint32_t i = step; i < kAddresses; i += 3) state.RemoveEntry({2 + i % 2, 1, i});
    EXPECT_FALSE(routing.Update(state.entries_to_follow(), false)->is_mixed());
    EXPECT_TRUE(mixed->is_mixed()) << "a version stays as it is";
    EXPECT_NE(mixed->FindPlace(Local(address_of(step).c_str())), nullptr);
  }
}

TEST(PortRouting, FollowsAnotherState) {
  PortState one(80);
  ASSERT_TRUE(one.AddEntry({2, 1, 1, 0, 0, "", "http://*:80/a/"}, 1));
  ASSERT_TRUE(one.AddEntry({2, 1, 2, 0, 0, "", "http://*:80/b/"}, 1));
  PortRouting routing(80, kSelf);
  EXPECT_EQ(routing.Update(one.entries_to_follow(), false)->target_count(), 2u);
  PortState other(80);
  ASSERT_TRUE(other.AddEntry({2, 1, 1, 0, 0, "", "http://*:80/a/"}, 1));
  one = std::move(other);
  EXPECT_EQ(routing.Update(one.entries_to_follow(), false)->target_count(), 1u);
  one.Clear();
  EXPECT_FALSE(routing.Update(one.entries_to_follow(), false)->is_used());
}

TEST(PortRouting, ATargetKeepsItsIdAndThatOfOneThatHasGoneIsUsedAgain) {
  PortState state(80);
  PortRouting routing(80, kSelf);
  const auto id_of = [](const PortRoutes& routes, const char* target) {
    return routes.Find("h", target, {}).id;
  };
  ASSERT_TRUE(state.AddEntry({1, 1, 1, 0, 0, "", "http://*:80/b/"}, 1));
  const auto first = routing.Update(state.entries_to_follow(), false);
  const size_t limit = first->target_limit();
  for (uint32_t i = 0; i < 3 * limit; ++i) {
    ASSERT_TRUE(state.AddEntry({1, 1, 2, 0, 0, "", "http://*:80/a/"}, 1));
    const auto routes = routing.Update(state.entries_to_follow(), false);
    EXPECT_EQ(id_of(*routes, "/b/"), id_of(*first, "/b/"));
    EXPECT_NE(id_of(*routes, "/a/"), id_of(*routes, "/b/"));
    EXPECT_EQ(routes->target_limit(), limit);
    state.RemoveEntry({1, 1, 2});
    EXPECT_EQ(routing.Update(state.entries_to_follow(), false)->target_count(), 1u);
  }
}

// Changes are not kept without end if nobody asks for routes.
TEST(PortRouting, ChangesThatNobodyTakesAreBounded) {
  PortState state(80);
  (void)state.entries_to_follow()->TakeChanges();
  for (size_t i = 0; i <= limits::kEntriesMax; ++i) {
    const std::string prefix = "http://*:80/" + std::to_string(i) + "/";
    ASSERT_TRUE(state.AddEntry({1, 1, 1, 0, 0, "", prefix}, 1));
  }
  const PortEntries::Changes changes = state.entries_to_follow()->TakeChanges();
  EXPECT_TRUE(changes.is_all);
  EXPECT_TRUE(changes.prefixes.empty());
  EXPECT_FALSE(state.entries_to_follow()->TakeChanges().is_all);
}

}  // namespace
}  // namespace httpsys::sharing
