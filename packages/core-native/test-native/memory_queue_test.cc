// The order of connections and parked requests that wait for JavaScript.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread.h"
#include "engine/connection/connection.h"
#include "engine/connection/receive_queue.h"

namespace httpsys::engine {
namespace {

class MemoryQueueTest : public testing::Test {
 protected:
  Connection* Make() {
    return connections_.emplace_back(std::make_unique<Connection>(-1, Addresses{})).get();
  }
  Connection* Park(uint64_t now_ms, bool has_others = false) {
    Connection* connection = Make();
    ParkAgain(connection, now_ms, has_others);
    return connection;
  }
  void ParkAgain(Connection* connection, uint64_t now_ms, bool has_others = false) {
    queue_.Park(connection, {&unbegun_, now_ms, 100, 0, has_others});
  }

  MemoryQueue queue_;
  std::atomic<uint64_t> unbegun_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
};

TEST_F(MemoryQueueTest, AResumedRequestThatIsParkedAgainKeepsItsPlaceAndItsTime) {
  Park(10);
  Connection* second = Park(20, true);
  Connection* third = Park(30);
  const auto has_others = [](const Connection&, const MemoryQueue::Parked& parked) {
    return parked.has_others;
  };
  EXPECT_EQ(queue_.NextParked(RouteStatus::kMatch, has_others), second);
  EXPECT_FALSE(queue_.has_movable());
  ParkAgain(second, 50, true);
  queue_.EndResume();
  EXPECT_TRUE(queue_.has_movable());
  EXPECT_EQ(queue_.NextOverdue(109), nullptr);
  EXPECT_NE(queue_.NextOverdue(110), nullptr);
  EXPECT_EQ(queue_.NextOverdue(119), nullptr);
  EXPECT_EQ(queue_.NextOverdue(120), second);
  EXPECT_EQ(queue_.Next(), third);
  EXPECT_EQ(queue_.Next(), nullptr);
  EXPECT_EQ(unbegun_, 0u);
}

TEST_F(MemoryQueueTest, WhoLeavesIsNotResumed) {
  Connection* first = Park(10, true);
  Connection* second = Make();
  queue_.Add(second);
  Connection* third = Park(30);
  queue_.Remove(first);
  queue_.Remove(first);
  EXPECT_FALSE(queue_.has_movable());
  EXPECT_EQ(unbegun_, 1u);
  EXPECT_EQ(queue_.Next(), second);
  queue_.Remove(third);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(MemoryQueueTest, AClientThatLeavesCostsTheSameHoweverManyWait) {
  const auto ns_of_leaving = [this](size_t count) {
    connections_.clear();
    for (size_t i = 0; i < count; ++i) Park(i);
    const ThreadWatch thread = WatchThisThread();
    const uint64_t since_ns = CpuNsOf(thread);
    // From both ends in turn, so that a search from either end would be long.
    for (size_t i = 0; i < count; ++i) {
      queue_.Remove(connections_[i % 2 == 0 ? i / 2 : count - 1 - i / 2].get());
    }
    EXPECT_TRUE(queue_.empty());
    return (CpuNsOf(thread) - since_ns) / count;
  };
  const uint64_t few_ns = ns_of_leaving(1000);
  // To look at each of the others takes 20 times as long and longer.
  EXPECT_LE(ns_of_leaving(20'000), few_ns * 8) << "with 1,000: " << few_ns << " ns";
}

}  // namespace
}  // namespace httpsys::engine
