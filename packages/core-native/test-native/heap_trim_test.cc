// When the heap is asked to give memory back, after connections have ended with unsent output: an
// output pass over played connections, with a malloc_trim() of the test's own.

#include <gtest/gtest.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/limits.h"
#include "engine/connection/output_pass.h"

namespace {

int g_trims = 0;

}  // namespace

// Takes the place of the C library's: what the program itself defines is found first.
extern "C" __attribute__((visibility("default"))) int malloc_trim(size_t) {
  ++g_trims;
  return 1;
}

namespace httpsys::engine {
namespace {

// Between two ends of connections: well below what the trim waits for.
constexpr uint64_t kStepMs = limits::kUnusedMs / 40;

class HeapTrimTest : public testing::Test, public OutputOwner {
 protected:
  HeapTrimTest() {
    uv_loop_init(&loop_);
    output_ = std::make_unique<OutputPass>(&loop_, this, nullptr, nullptr);
    uv_timer_init(&loop_, &steps_);
    g_trims = 0;
  }

  ~HeapTrimTest() override {
    output_->Close();
    uv_close(reinterpret_cast<uv_handle_t*>(&steps_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  void OnWriteFailed(Connection*, int) override {}
  void UpdatePoll(Connection*) override {}
  void OnQueueBegun(Connection*) override {}
  void OnOutputDone(Connection*) override {}

  void EndConnections(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Connection connection(-1, Addresses{});
      output_->BeginQueue(&connection);
      output_->Drop(&connection);
    }
  }

  // Lets time pass; a connection ends in each step of it if `ends_one`.
  void Pass(uint64_t ms, bool ends_one) {
    uv_update_time(&loop_);
    const uint64_t end_ms = uv_now(&loop_) + ms;
    steps_.data = this;
    uv_timer_start(&steps_, [](uv_timer_t*) {}, kStepMs, kStepMs);
    while (uv_now(&loop_) < end_ms) {
      uv_run(&loop_, UV_RUN_ONCE);
      if (ends_one) EndConnections(1);
    }
    uv_timer_stop(&steps_);
  }

  uv_loop_t loop_;
  uv_timer_t steps_;
  std::unique_ptr<OutputPass> output_;
};

TEST_F(HeapTrimTest, FewEndsAreNoReasonForATrim) {
  EndConnections(limits::kTrimAfterDrops - 1);
  Pass(limits::kUnusedMs + kStepMs, false);
  EXPECT_EQ(g_trims, 0);
}

TEST_F(HeapTrimTest, ManyEndsAreFollowedByOneTrim) {
  EndConnections(limits::kTrimAfterDrops);
  Pass(2 * limits::kUnusedMs + kStepMs, false);
  EXPECT_EQ(g_trims, 1);
}

TEST_F(HeapTrimTest, EndsThatGoOnDoNotPostponeTheTrimAndAreFollowedByTheNext) {
  EndConnections(limits::kTrimAfterDrops);
  Pass(limits::kUnusedMs + 2 * kStepMs, true);
  EXPECT_EQ(g_trims, 1);
  Pass(limits::kUnusedMs, false);
  EXPECT_EQ(g_trims, 2);
}

}  // namespace
}  // namespace httpsys::engine
