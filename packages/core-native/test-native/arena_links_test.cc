// Whom the links to other caches ask for counters, as prefixes come to be owned by several members
// and are left again. The other owner is played by the test.

#include "engine/shared_cache/arena_links.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/invalidation_counters.h"
#include "engine/cache/process_cache.h"
#include "engine/cache/server_caches.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "peer/messages.h"
#include "sharing/meeting_place.h"
#include "sharing/port_routing.h"
#include "sharing/port_state.h"
#include "support/descriptors.h"
#include "support/own_links.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

#ifdef __linux__

using peer::FrameType;
using sharing::Channel;

constexpr uint64_t kSelf = 1;
constexpr uint32_t kServer = 3;
const char* const kPrefix = "http://*:8080/a/";

class ArenaLinksTest : public testing::Test, public Channel::Handler {
 protected:
  ArenaLinksTest() {
    uv_loop_init(&loop_);
    EXPECT_EQ(sharing::ListenUnder(sharing::MemberName(kOther), &named_), 0);
    links_ = std::make_unique<ArenaLinks>(&loop_, kSelf, &arenas_, &cache_, &servers_);
    ServerSettings settings;
    settings.cache.rules = 2;
    settings.prefixes = test::WholePrefixes({kPrefix});
    auto terms = caches_.Configure(kServer, settings);
    auto server = std::make_unique<LaneServer>();
    server->id = kServer;
    server->config = ServerConfig::Create(std::move(settings), nullptr, nullptr, std::move(terms));
    servers_[kServer] = std::move(server);
  }
  ~ArenaLinksTest() override {
    links_->Close();
    if (channel_ != nullptr) channel_->Close();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    close(named_.fd);
    caches_.Close();
  }

  // The other member has a server of its own on the port, and owns the prefix, too, or not.
  void SetRoutes(bool is_shared) {
    sharing::PortState state(8080);
    ASSERT_TRUE(state.AddEntry({kSelf, kServer, 0, peer::kEntryCached, 0, "q", kPrefix}, 1000));
    ASSERT_TRUE(state.AddEntry({kOther, 4, 0, 0, 0, "", "http://*:8080/b/"}, 1000));
    if (is_shared) {
      ASSERT_TRUE(state.AddEntry({kOther, 5, 0, peer::kEntryCached, 0, "q", kPrefix}, 1000));
    }
    sharing::PortRouting routing(8080, kSelf);
    links_->OnRoutes(routing.Update(state.entries_to_follow(), false));
  }
  void Accept() {
    const int fd = test::AcceptOwnLink(named_.fd);
    ASSERT_NE(fd, -1);
    channel_ = new Channel(&loop_, fd, this);
    ASSERT_EQ(channel_->Start(), 0);
  }
  bool Until(const std::function<bool()>& is_so) {
    for (int turn = 0; turn < 5000 && !is_so(); ++turn) {
      uv_run(&loop_, UV_RUN_NOWAIT);
      usleep(1000);
    }
    return is_so();
  }
  // How often the member was asked for its counters.
  bool IsAsked(int times) {
    return Until([=, this] { return asked_ >= times; }) && asked_ == times;
  }
  void Answer() {
    const auto& memory = counters_->memory();
    ASSERT_TRUE(channel_->Send(FrameType::kCacheCounters, {}, memory->fd()));
  }
  bool IsMissing() { return !cache_.co_owners().Missing(links_.get()).empty(); }

  // -- Channel::Handler: the other member.

  void OnFrame(Channel*, const peer::Frame& frame, std::span<const int> fds) override {
    for (const int fd : fds) close(fd);
    if (frame.type == FrameType::kCacheFollow) ++asked_;
  }
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override {
    channel->Close();
    channel_ = nullptr;
  }

  const uint64_t kOther = sharing::RandomId();
  uv_loop_t loop_;
  sharing::NamedSocket named_;
  ProcessCache cache_;
  ServerCaches caches_{&cache_, "engine"};
  LaneServers servers_;
  ForeignArenas arenas_;
  std::unique_ptr<ArenaLinks> links_;
  Channel* channel_ = nullptr;
  const std::unique_ptr<cache::InvalidationCounters> counters_ =
      cache::InvalidationCounters::Create();
  int asked_ = 0;
};

TEST_F(ArenaLinksTest, AnOwnerIsAskedOnceForItsCounters) {
  SetRoutes(true);
  Accept();
  ASSERT_TRUE(IsAsked(1));
  EXPECT_TRUE(IsMissing());
  SetRoutes(true);
  Answer();
  EXPECT_TRUE(Until([this] { return !IsMissing(); }));
  // Whoever comes back soon is known.
  SetRoutes(false);
  SetRoutes(true);
  EXPECT_FALSE(IsMissing());
  EXPECT_EQ(asked_, 1);
}

// Each server is configured before its prefixes are registered, so that its settings are there
// before the routes. The links do not depend on that order.
TEST_F(ArenaLinksTest, AnOwnerIsAskedWhenTheSettingsOfTheServerComeBehindTheRoutes) {
  auto server = std::move(servers_.at(kServer));
  servers_.erase(kServer);
  SetRoutes(true);
  EXPECT_FALSE(IsMissing());
  servers_[kServer] = std::move(server);
  links_->OnServer();
  EXPECT_TRUE(IsMissing());
  Accept();
  EXPECT_TRUE(IsAsked(1));
}

// Otherwise the prefix would have no cache as long as the link lasts: nothing is found while the
// counters of an owner are missing.
TEST_F(ArenaLinksTest, AnOwnerThatLeftBeforeItsCountersCameIsAskedAgain) {
  SetRoutes(true);
  Accept();
  ASSERT_TRUE(IsAsked(1));
  SetRoutes(false);
  Answer();
  Until([turns = 0]() mutable { return ++turns > 50; });
  SetRoutes(true);
  EXPECT_TRUE(IsAsked(2));
  Answer();
  EXPECT_TRUE(Until([this] { return !IsMissing(); }));
}

// This process has too few descriptors left for a link to the owner, which may stay so.
TEST_F(ArenaLinksTest, AnOwnerThatCannotBeAskedIsLookedForOftenForASecondOnly) {
  std::vector<int> used(64);
  for (int& fd : used) fd = dup(named_.fd);
  {
    const test::DescriptorLimit limit(8);
    // Returns how many connections the owner got in a second.
    const auto looks_in_a_second = [this] {
      int looks = 0;
      const uint64_t until_ms = uv_hrtime() / 1'000'000 + 1000;
      EXPECT_TRUE(Until([&] {
        pollfd watched{named_.fd, POLLIN, 0};
        for (; poll(&watched, 1, 0) == 1; ++looks) close(accept(named_.fd, nullptr, nullptr));
        return uv_hrtime() / 1'000'000 >= until_ms;
      }));
      return looks;
    };
    SetRoutes(true);
    EXPECT_GE(looks_in_a_second(), 5);
    (void)looks_in_a_second();
    EXPECT_LT(looks_in_a_second(), 5);
    EXPECT_TRUE(IsMissing());
    EXPECT_EQ(asked_, 0);
  }
  for (const int fd : used) close(fd);
}

#endif

}  // namespace
}  // namespace httpsys::engine
