#pragma once
// The cache of one member in the hands of another one, and peers that are played by the test.
// Linux.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/seeded_hash.h"
#include "cache/arena_layout.h"
#include "cache/cache_key.h"
#include "cache/invalidation_counters.h"
#include "engine/cache/process_cache.h"
#include "engine/cache/server_caches.h"
#include "engine/peers/peer_links.h"
#include "engine/shared_cache/arena_gifts.h"
#include "engine/shared_cache/arena_links.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "sharing/meeting_place.h"
#include "support/descriptors.h"
#include "support/own_links.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {

#ifdef __linux__

using cache::FindResult;
using cache::SharedMemory;
using peer::FrameType;
using sharing::Channel;

constexpr uint32_t kServer = 3;
const char* const kPrefix = "http://*:8080/a/";

class NoOwner final : public PeerLinks::Owner, public PeerLinks::RelayOwner {
 public:
  bool CanTake(uint16_t) const override { return false; }
  void OnHandedOver(HandedConnection connection) override { close(connection.fd); }
  void OnTakenBack(HandedConnection connection) override { close(connection.fd); }
  void OnAnswered(const peer::Answered&) override {}
  void OnDecided(const peer::Decided&) override {}
  void OnReturned(const peer::Returned&, bool) override {}
  void OnEnded(const peer::Ended&) override {}
  void OnLinkCut(uint64_t) override {}
  void OnDoubt(uint16_t) override {}
  void OnFree(uint64_t, bool) override {}
  void OnLinkFree() override {}
};

// Collects the frames that an owner or a reader played by the test receives.
class Played final : public Channel::Handler {
 public:
  ~Played() {
    for (const int fd : fds) close(fd);
  }
  void OnFrame(Channel*, const peer::Frame& frame, std::span<const int> with) override {
    fds.insert(fds.end(), with.begin(), with.end());
    types.push_back(frame.type);
    payloads.emplace_back(frame.payload);
  }
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override {
    is_broken = true;
    channel->Close();
  }
  bool Has(FrameType type) const {
    return std::find(types.begin(), types.end(), type) != types.end();
  }

  std::vector<FrameType> types;
  std::vector<std::string> payloads;
  std::vector<int> fds;
  bool is_broken = false;
};

class SharedCacheTest : public testing::Test {
 protected:
  SharedCacheTest() {
    before_ = test::OpenDescriptors();
    uv_loop_init(&loop_);
    uv_timer_init(&loop_, &guard_);
    EXPECT_EQ(sharing::ListenUnder(sharing::MemberName(kId), &named_), 0);
    links_ = std::make_unique<PeerLinks>(&loop_, kId, &patience_, &no_owner_, &no_owner_);
    gifts_ = std::make_unique<ArenaGifts>(
        &loop_, &cache_, &servers_, links_.get(),
        [this](std::function<void()> run) { posted_.push_back(std::move(run)); });
    links_->set_cache_askers(gifts_.get());
    reads_ = std::make_unique<ArenaLinks>(&loop_, 1, &arenas_, &reader_cache_, &reader_servers_);
    arenas_.SetAskOwner([this](uint64_t member, uint32_t server_id, uint32_t prefix_id) {
      asked_.push_back(
          [this, member, server_id, prefix_id] { reads_->Ask(member, server_id, prefix_id); });
    });
  }
  ~SharedCacheTest() override {
    gifts_->Close();
    reads_->Close();
    links_->Close();
    if (channel_ != nullptr && !played_.is_broken) channel_->Close();
    uv_close(reinterpret_cast<uv_handle_t*>(&guard_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    if (named_.fd != -1) close(named_.fd);
    caches_.Close();
    EXPECT_EQ(readers_.Find(kId), nullptr);
    // Chunks that are in use again after the last server has gone: none.
    EXPECT_EQ(cache_.Share().chunks.empty() ? 0u : ChunkCount(), 0u);
    const int index = cache_.Share().index == nullptr ? 0 : 1;
    const int counters = cache_.co_owners().Share() == nullptr ? 0 : 1;
    EXPECT_EQ(test::OpenDescriptors(),
              before_ + static_cast<int>(played_.fds.size()) + index + counters);
  }
  size_t ChunkCount() const {
    size_t count = 0;
    for (const auto& chunk : cache_.Share().chunks) count += chunk.memory != nullptr ? 1 : 0;
    return count;
  }

  void RunPosted() {
    for (auto& run : std::exchange(posted_, {})) run();
    for (auto& run : std::exchange(asked_, {})) run();
  }
  bool Until(const std::function<bool()>& is_so, uint64_t ms = 5000) {
    bool is_late = false;
    guard_.data = &is_late;
    uv_timer_start(
        &guard_, [](uv_timer_t* timer) { *static_cast<bool*>(timer->data) = true; }, ms, 0);
    RunPosted();
    while (!is_so() && !is_late) {
      uv_run(&loop_, UV_RUN_NOWAIT);
      RunPosted();
      // A reader is accepted whenever it comes.
      pollfd watched{named_.fd, POLLIN, 0};
      if (is_accepting_ && named_.fd != -1 && poll(&watched, 1, 1) == 1) {
        links_->Accept(accept4(named_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      }
    }
    uv_timer_stop(&guard_);
    return is_so();
  }

  // -- The owner.

  void Configure(ServerSettings settings) {
    settings.prefixes = test::WholePrefixes({kPrefix, "http://*:8080/b/"});
    auto terms = caches_.Configure(kServer, settings);
    auto server = std::make_unique<LaneServer>();
    server->id = kServer;
    server->config = ServerConfig::Create(std::move(settings), nullptr, nullptr, std::move(terms));
    ASSERT_NE(server->config, nullptr);
    servers_[kServer] = std::move(server);
    gifts_->OnServer(kServer);
  }
  static ServerSettings WithCache() {
    ServerSettings settings;
    settings.cache.rules = 2;
    return settings;
  }
  static std::string KeyOf(uint32_t scope, const std::string& target) {
    http1::RequestHead head;
    head.host = "h";
    head.has_host = true;
    head.target = target;
    std::string key;
    EXPECT_TRUE(cache::MakeKey({false, scope}, head, &key));
    return key;
  }
  uint32_t OwnScope() const { return servers_.at(kServer)->config->cache()->ScopeOf(0); }
  void Store(const std::string& target, const std::string& body) {
    const std::string key = KeyOf(OwnScope(), target);
    const cache::VaryNames vary;
    ProcessCache::Response response{};
    response.vary = &vary;
    response.mark = cache_.MarkOf(key);
    response.parts.key = key;
    response.parts.head = "HTTP/1.1 200 OK\r\n";
    response.parts.body = body;
    response.parts.status = 200;
    ASSERT_EQ(cache_.Store(response), cache::Refusal::kNone);
  }

  // -- The reader.

  const ForeignScope* Scope(uint32_t prefix_id = 0) {
    const auto* reader = readers_.Find(kId);
    return reader == nullptr ? nullptr
                             : reader->arena->scopes.Find(ForeignScope::Key(kServer, prefix_id));
  }
  bool HasScope(uint32_t prefix_id = 0) {
    const ForeignScope* scope = Scope(prefix_id);
    return scope != nullptr && scope->scope != 0;
  }
  // The body, or nothing.
  std::optional<std::string> Read(const std::string& target) {
    auto* reader = readers_.Find(kId);
    if (reader == nullptr || reader->reader == nullptr || !HasScope()) return std::nullopt;
    const std::string key = KeyOf(Scope()->scope, target);
    cache::FoundEntry found;
    const FindResult result =
        reader->reader->Find(key, HashText(key, reader->reader->seed()), &buffer_, &found);
    if (result != FindResult::kHit) return std::nullopt;
    if (reader->hits.has_value()) reader->hits->Note(found.slot_at, found.slot);
    return std::string(found.body);
  }

  // -- Played sides.

  void PlayOwner() {
    is_accepting_ = false;
    arenas_.Ask(kId, kServer, 0);
    RunPosted();
    const int fd = test::AcceptOwnLink(named_.fd);
    ASSERT_NE(fd, -1);
    channel_ = new Channel(&loop_, fd, &played_);
    ASSERT_EQ(channel_->Start(), 0);
  }
  void PlayReader() {
    channel_ = new Channel(&loop_, sharing::ConnectTo(sharing::MemberName(kId)), &played_);
    ASSERT_EQ(channel_->Start(), 0);
    peer::Link hello;
    hello.id = 77;
    ASSERT_TRUE(channel_->Send(FrameType::kLink, peer::Encode(hello)));
  }
  bool IsGivenUp() {
    return Until([this] { return played_.is_broken; });
  }

  const uint64_t kId = sharing::RandomId();
  int before_ = 0;
  uv_loop_t loop_;
  uv_timer_t guard_;
  sharing::NamedSocket named_;
  bool is_accepting_ = true;
  std::vector<std::function<void()>> posted_;
  std::vector<std::function<void()>> asked_;
  ProcessCache cache_;
  ServerCaches caches_{&cache_, "engine"};
  LaneServers servers_;
  NoOwner no_owner_;
  LanePatience patience_{[](bool) {}, [] {}};
  std::unique_ptr<PeerLinks> links_;
  std::unique_ptr<ArenaGifts> gifts_;
  ForeignArenas arenas_;
  ProcessCache reader_cache_;
  LaneServers reader_servers_;
  std::unique_ptr<ArenaLinks> reads_;
  ArenaReaders readers_{&arenas_};
  cache::CopyBuffer buffer_;
  Played played_;
  Channel* channel_ = nullptr;
};

#endif

}  // namespace httpsys::engine
