// An acceptor with a listener for each of thousands of addresses: what a change of one of them, and
// a change of the routes, costs.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/accept/acceptor.h"
#include "support/member.h"

namespace httpsys::engine {
namespace {

// A system with a listener for every number, on which nobody connects.
class QuietPoll final : public ListenerPoll {
 public:
  // `accepts` counts the attempts to accept.
  explicit QuietPoll(std::atomic<size_t>* accepts) : accepts_(accepts) {}

  int Open() override { return 0; }
  void Close() override {}
  void Signal() override {
    const std::lock_guard lock(mutex_);
    is_signalled_ = true;
    changed_.notify_all();
  }
  int Watch(int, int) override { return 0; }
  void Unwatch(int, int) override {}
  void Wait(std::vector<int>* keys, int timeout_ms) override {
    keys->clear();
    std::unique_lock lock(mutex_);
    is_waiting_ = true;
    changed_.notify_all();
    const auto is_over = [this] { return is_signalled_; };
    if (timeout_ms < 0) {
      changed_.wait(lock, is_over);
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), is_over);
    }
    is_waiting_ = is_signalled_ = false;
  }
  void Pause(int) override {}
  int OpenSet() const override { return -1; }
  int WatchIn(int, int, int) const override { return -ENOSYS; }
  void UnwatchIn(int, int) const override {}
  void ReadyIn(int, std::vector<int>* keys) const override { keys->clear(); }
  int Accept(int) const override {
    ++*accepts_;
    errno = EAGAIN;
    return -1;
  }
  bool ReadQueue(int, size_t*, size_t*) const override { return false; }
  bool Lock(int, uint8_t, bool) const override { return true; }

  // Returns when the thread has handled all signals of before.
  void Settle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_waiting_ && !is_signalled_; });
  }

 private:
  std::atomic<size_t>* const accepts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_waiting_ = false;
  bool is_signalled_ = false;
};

class AcceptorScaleTest : public testing::Test {
 protected:
  ~AcceptorScaleTest() override { acceptor_.Stop(); }

  // No file has this number, so that thousands need no descriptors.
  int Add() {
    return acceptor_.Add(1, -1, [](const std::vector<int>&) {});
  }
  // Returns the CPU time of one more listener that comes and goes, at its best.
  uint64_t NsOfChange() {
    uint64_t best_ns = UINT64_MAX;
    for (int round = 0; round < 20; ++round) {
      constexpr int kChanges = 20;
      const uint64_t before_ns = CpuNs();
      for (int change = 0; change < kChanges; ++change) acceptor_.RemoveOne(Add());
      best_ns = std::min(best_ns, (CpuNs() - before_ns) / kChanges);
    }
    return best_ns;
  }
  static uint64_t CpuNs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

  std::atomic<size_t> accepts_{0};
  std::unique_ptr<QuietPoll> made_ = std::make_unique<QuietPoll>(&accepts_);
  QuietPoll* const poll_ = made_.get();
  Acceptor acceptor_{std::move(made_)};
};

TEST_F(AcceptorScaleTest, AListenerCostsTheSameBesideTenThousandOthers) {
  std::vector<int> keys;
  while (keys.size() < 100) keys.push_back(Add());
  const uint64_t few_ns = NsOfChange();
  while (keys.size() < 10'000) keys.push_back(Add());
  const uint64_t many_ns = NsOfChange();
  // Looking at each of them takes 30 times as long and longer.
  EXPECT_LT(many_ns, few_ns * 8) << "with 100 others " << few_ns << " ns";
  for (const int key : keys) acceptor_.RemoveOne(key);
}

TEST_F(AcceptorScaleTest, TheListenersOfAPortAreLookedAtOnlyAfterAMemberHasLeftIt) {
  const test::PortHolder one;
  const test::PortHolder other;
  const auto add = [&](const test::PortHolder& port) {
    const int copy = dup(port.fd());
    ASSERT_GT(acceptor_.Add(1, copy, [](const std::vector<int>&) {}), 0);
  };
  for (int i = 0; i < 3; ++i) add(one);
  for (int i = 0; i < 5; ++i) add(other);
  ASSERT_EQ(acceptor_.Start(), 0);
  const auto accepts_after = [&](uint16_t port, uint64_t departures) {
    const size_t before = accepts_;
    acceptor_.LookAfter(port, departures);
    poll_->Settle();
    return accepts_ - before;
  };
  EXPECT_EQ(accepts_after(one.port(), 0), 0U);
  EXPECT_EQ(accepts_after(one.port(), 1), 3U);
  EXPECT_EQ(accepts_after(one.port(), 1), 0U) << "a change of the routes alone";
  EXPECT_EQ(accepts_after(other.port(), 1), 5U);
  EXPECT_EQ(accepts_after(one.port(), 3), 3U);
}

}  // namespace
}  // namespace httpsys::engine
