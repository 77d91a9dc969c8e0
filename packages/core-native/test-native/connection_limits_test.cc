// The counts by which maxConnectionsPerAddress and maxConnectionsPerPrefix go.

#include "engine/connection/connection_limits.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace httpsys::engine {
namespace {

using Group = ConnectionCounts::Group;

Group Client(const std::string& address) {
  sockaddr_storage peer{};
  if (address.find(':') == std::string::npos) {
    auto* four = reinterpret_cast<sockaddr_in*>(&peer);
    four->sin_family = AF_INET;
    EXPECT_EQ(inet_pton(AF_INET, address.c_str(), &four->sin_addr), 1) << address;
  } else {
    auto* six = reinterpret_cast<sockaddr_in6*>(&peer);
    six->sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), &six->sin6_addr), 1) << address;
  }
  Group group;
  EXPECT_TRUE(ConnectionLimits::ReadClient(peer, &group)) << address;
  return group;
}

Group Text(const std::string& address) {
  Group group;
  EXPECT_TRUE(ConnectionLimits::ReadClient(address, &group)) << address;
  return group;
}

TEST(ConnectionLimits, AClientIsAnIPv4AddressOrANetworkOfIPv6) {
  EXPECT_EQ(Client("192.0.2.1"), Client("::ffff:192.0.2.1"));
  EXPECT_NE(Client("192.0.2.1"), Client("192.0.2.2"));
  EXPECT_EQ(Client("2001:db8:0:1::1"), Client("2001:db8:0:1:ffff::2"));
  EXPECT_NE(Client("2001:db8:0:1::1"), Client("2001:db8:0:2::1"));
  EXPECT_NE(Client("::1"), Client("0.0.0.1"));
  EXPECT_TRUE(Client("::1").is_client) << "not the connections for a prefix";
  sockaddr_storage nowhere{};
  nowhere.ss_family = AF_UNIX;
  Group group;
  EXPECT_FALSE(ConnectionLimits::ReadClient(nowhere, &group));
}

TEST(ConnectionLimits, AClientIsTheSameWhereItsRequestsAreRelayedTo) {
  EXPECT_EQ(Text("192.0.2.1"), Client("192.0.2.1"));
  EXPECT_EQ(Text("::ffff:192.0.2.1"), Client("192.0.2.1"));
  EXPECT_EQ(Text("2001:db8::7"), Client("2001:db8::"));
  EXPECT_EQ(Text("fe80::7%eth0"), Client("fe80::"));
  Group group;
  EXPECT_FALSE(ConnectionLimits::ReadClient(std::string_view(), &group));
  EXPECT_FALSE(ConnectionLimits::ReadClient("::ffff:nobody.", &group));
}

TEST(ConnectionCounts, AGroupTakesAsManyAsItMay) {
  ConnectionCounts counts;
  const Group one{.prefix_id = 1};
  const Group other{.prefix_id = 2};
  EXPECT_TRUE(counts.Add(one, "", 2));
  EXPECT_FALSE(counts.IsFull(one, 2));
  EXPECT_TRUE(counts.Add(one, "", 2));
  EXPECT_TRUE(counts.IsFull(one, 2));
  EXPECT_FALSE(counts.Add(one, "", 2));
  EXPECT_TRUE(counts.Add(other, "", 2));
  counts.Remove(one, "");
  EXPECT_TRUE(counts.Add(one, "", 2));
  EXPECT_FALSE(counts.Add(one, "", 1)) << "a lower limit";
}

TEST(ConnectionCounts, WhatOneConnectionRelaysCountsOnce) {
  ConnectionCounts counts;
  const Group group{.prefix_id = 1};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(counts.Add(group, "a", 1));
  EXPECT_FALSE(counts.Add(group, "b", 1));
  EXPECT_FALSE(counts.Add(group, "", 1));
  counts.Remove(group, "a");
  counts.Remove(group, "a");
  EXPECT_FALSE(counts.Add(group, "b", 1)) << "one is left";
  counts.Remove(group, "a");
  EXPECT_TRUE(counts.Add(group, "b", 1));
  counts.Remove(group, "a");
  EXPECT_TRUE(counts.IsFull(group, 1)) << "what was not added is not removed";
}

TEST(ConnectionCounts, LanesNeverCountMoreThanThereMayBe) {
  ConnectionCounts counts;
  const Group group{.is_client = true};
  std::vector<std::thread> lanes;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  for (int lane = 0; lane < 4; ++lane) {
    lanes.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!counts.Add(group, "", 3)) continue;
        const int now = ++inside;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        --inside;
        counts.Remove(group, "");
      }
    });
  }
  for (std::thread& lane : lanes) lane.join();
  EXPECT_LE(most, 3);
  EXPECT_FALSE(counts.IsFull(group, 1)) << "all have left";
}

}  // namespace
}  // namespace httpsys::engine
