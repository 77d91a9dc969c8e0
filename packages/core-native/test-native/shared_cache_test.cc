// The cache of one member in the hands of another one: what is given, what the reader maps of it,
// and owners and readers that say anything.

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
#include "engine/shared_cache/arena_readers.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "sharing/meeting_place.h"
#include "support/descriptors.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

#ifdef __linux__

using cache::FindResult;
using cache::SharedMemory;
using peer::FrameType;
using sharing::Channel;

constexpr uint32_t kServer = 3;
const char* const kPrefix = "http://*:8080/a/";

class NoOwner final : public PeerLinks::Owner {
 public:
  bool CanTake(uint16_t) const override { return false; }
  void OnHandedOver(HandedConnection connection) override { close(connection.fd); }
  void OnTakenBack(HandedConnection connection) override { close(connection.fd); }
  void OnAnswered(const peer::Answered&) override {}
  void OnDecided(const peer::Decided&) override {}
  void OnReturned(const peer::Returned&, bool) override {}
  void OnEnded(const peer::Ended&) override {}
  void OnDoubt(uint16_t) override {}
  void OnFree(uint64_t, bool) override {}
  void OnLinkFree() override {}
};

// What an owner or a reader that is played by the test receives.
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
    links_ = std::make_unique<PeerLinks>(&loop_, kId, &patience_, &no_owner_);
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
    pollfd watched{named_.fd, POLLIN, 0};
    ASSERT_EQ(poll(&watched, 1, 5000), 1);
    const int fd = accept4(named_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
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

TEST_F(SharedCacheTest, AReaderFindsWhatTheOwnerStoresNowAndLater) {
  Configure(WithCache());
  Store("/a/1", "one");
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "one"; }));
  EXPECT_EQ(Scope()->scope, OwnScope());
  EXPECT_TRUE(Scope()->has_prefix);
  EXPECT_EQ(Scope()->prefix.port, 8080);
  EXPECT_EQ(Scope()->terms, "");
  Store("/a/2", "two");
  EXPECT_EQ(Read("/a/2"), "two") << "at once, without a message";
  EXPECT_EQ(Read("/a/3"), std::nullopt);
  // Without a message, too.
  EXPECT_TRUE(cache_.Drop(KeyOf(OwnScope(), "/a/2")));
  EXPECT_EQ(Read("/a/2"), std::nullopt);
  EXPECT_EQ(Read("/a/1"), "one");
}

TEST_F(SharedCacheTest, ChunksThatComeAndGoAreFollowed) {
  Configure(WithCache());
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return HasScope(); }));
  const std::string large(900'000, 'x');
  for (int i = 0; i < 12; ++i) Store("/a/" + std::to_string(i), large + std::to_string(i));
  ASSERT_GE(ChunkCount(), 3u);
  ASSERT_TRUE(Until([&] { return Read("/a/11") == large + "11"; }));
  int found = 0;
  for (int i = 0; i < 12; ++i) found += Read("/a/" + std::to_string(i)).has_value() ? 1 : 0;
  EXPECT_EQ(found, 12);
  cache_.SetBytes(this, 4 * 1024 * 1024);
  ASSERT_TRUE(Until([&] {
    const auto* reader = readers_.Find(kId);
    size_t mapped = 0;
    for (const auto& chunk : reader->arena->chunks) mapped += chunk.memory != nullptr ? 1 : 0;
    return mapped == ChunkCount();
  }));
  EXPECT_EQ(ChunkCount(), 1u);
  cache_.SetBytes(this, 0);
}

TEST_F(SharedCacheTest, AnArenaThatIsMadeAnewTakesThePlaceOfTheOldOne) {
  Configure(WithCache());
  Store("/a/1", "old");
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "old"; }));
  cache_.SetBytes(this, 64 * 1024 * 1024);
  EXPECT_EQ(Read("/a/1"), std::nullopt) << "nothing of the old one is found, before any message";
  Store("/a/1", "new");
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "new"; }));
  cache_.SetBytes(this, 0);
}

TEST_F(SharedCacheTest, AScopeGoesWithItsPrefixAndWithItsServer) {
  Configure(WithCache());
  Store("/a/1", "one");
  arenas_.Ask(kId, kServer, 0);
  arenas_.Ask(kId, kServer, 1);
  arenas_.Ask(kId, kServer, 2);
  ASSERT_TRUE(Until([this] { return HasScope(0) && HasScope(1); }));
  EXPECT_FALSE(HasScope(2)) << "there is no such prefix";
  ServerSettings settings = WithCache();
  settings.cache.prefixes = {"http://*:8080/b/"};
  Configure(settings);
  EXPECT_TRUE(Until([this] { return !HasScope(0); }));
  EXPECT_TRUE(HasScope(1));
  servers_[kServer]->is_unlistened = true;
  gifts_->OnServer(kServer);
  EXPECT_TRUE(Until([this] { return !HasScope(1); }));
}

TEST_F(SharedCacheTest, AServerWithLimitsThatTheOwnerCountsIsNotGiven) {
  Configure(WithCache());
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return HasScope(); }));
  for (uint32_t ServerSettings::*limit :
       {&ServerSettings::bandwidth_max, &ServerSettings::connections_per_client,
        &ServerSettings::connections_per_prefix}) {
    ServerSettings settings = WithCache();
    settings.*limit = 5;
    Configure(settings);
    EXPECT_TRUE(Until([this] { return !HasScope(); }));
    Configure(WithCache());
    EXPECT_TRUE(Until([this] { return HasScope(); }));
  }
  Configure({});
  EXPECT_TRUE(Until([this] { return !HasScope(); }));
}

TEST_F(SharedCacheTest, SettingsTravelWithTheScope) {
  ServerSettings settings = WithCache();
  settings.is_url_strict = true;
  settings.cache.flags = CacheSettings::kIgnoresReload | CacheSettings::kTellsStatus;
  Configure(settings);
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return HasScope(); }));
  EXPECT_EQ(Scope()->flags,
            peer::kScopeStrictUrl | peer::kScopeIgnoresReload | peer::kScopeTellsStatus);
  Configure(WithCache());
  EXPECT_TRUE(Until([this] { return Scope()->flags == 0; }));
}

TEST_F(SharedCacheTest, TheOwnerHearsOfHits) {
  cache_.SetBytes(this, 16 * 1024 * 1024);
  Configure(WithCache());
  Store("/a/hit", "one");
  Store("/a/not", "one");
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/hit") == "one"; }));
  for (int i = 0; i < 300; ++i) {
    Store("/a/" + std::to_string(i), std::string(100'000, 'x'));
    RunPosted();
    // What the reader finds again and again outlives what it does not look for.
    ASSERT_TRUE(Until([this] { return Read("/a/hit") == "one"; })) << i;
  }
  EXPECT_EQ(Read("/a/not"), std::nullopt);
  cache_.SetBytes(this, 0);
}

// -- Members that go.

TEST_F(SharedCacheTest, TheCacheOfAKilledProcessIsKeptForAWhile) {
  Configure(WithCache());
  Store("/a/1", "one");
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "one"; }));
  EXPECT_FALSE(readers_.has_orphaned());
  sharing::CloseNamed(&named_);
  named_.fd = -1;
  links_->Close();
  links_ = std::make_unique<PeerLinks>(&loop_, kId, &patience_, &no_owner_);
  ASSERT_TRUE(Until([this] { return readers_.has_orphaned(); }));
  EXPECT_EQ(Read("/a/1"), "one");
  arenas_.Ask(kId, kServer, 1);
  RunPosted();
  EXPECT_EQ(Scope(1), nullptr) << "nobody is asked any more";
  arenas_.ForgetIf([](uint64_t, const ForeignArena& arena) { return arena.orphaned_ms != 0; });
  EXPECT_EQ(Read("/a/1"), std::nullopt);
}

TEST_F(SharedCacheTest, AnOwnerThatEndsTheLinkIsAskedAgainLater) {
  Configure(WithCache());
  Store("/a/1", "one");
  PlayOwner();
  channel_->ShutDown();
  channel_->Close();
  channel_ = nullptr;
  ASSERT_TRUE(Until([this] { return readers_.Find(kId) == nullptr; }));
  is_accepting_ = true;
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "one"; }));
}

// -- Members that own the same prefix.

TEST_F(SharedCacheTest, AnotherOwnerGetsCountersAndNoArena) {
  Configure(WithCache());
  Store("/a/1", "one");
  PlayReader();
  ASSERT_TRUE(channel_->Send(FrameType::kCacheFollow, {}));
  ASSERT_TRUE(Until([this] { return played_.Has(FrameType::kCacheCounters); }));
  Store("/a/2", std::string(100'000, 'x'));
  ASSERT_TRUE(channel_->Send(FrameType::kCacheFollow, {}));
  Until([] { return false; }, 50);
  EXPECT_FALSE(played_.Has(FrameType::kCacheIndex));
  ASSERT_FALSE(played_.fds.empty());
  const int fd = played_.fds[0];
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  const auto followed =
      cache::FollowedCounters::Over(SharedMemory::Map(fd, cache::InvalidationPlaces::kBytes));
  ASSERT_NE(followed, nullptr);
  std::atomic<uint64_t> generation{0};
  const size_t place = cache::InvalidationPlaces::OfTarget("/a/1");
  followed->FollowTarget(place, &generation);
  EXPECT_EQ(generation, 0u);
  EXPECT_TRUE(cache_.Invalidate(KeyOf(OwnScope(), "/a/1")));
  followed->FollowTarget(place, &generation);
  EXPECT_EQ(generation, 1u);
}

TEST_F(SharedCacheTest, AScopeThatAnotherMemberOwnsTooIsTakenBackUntilThatHasLeft) {
  Configure(WithCache());
  Store("/a/1", "one");
  Store("/a/2", "two");
  arenas_.Ask(kId, kServer, 0);
  ASSERT_TRUE(Until([this] { return Read("/a/1") == "one"; }));
  const auto other = cache::InvalidationCounters::Create();
  CoOwners& owners = cache_.co_owners();
  owners.Set(this, {{OwnScope(), kPrefix, {99}}}, 0);
  owners.SetCounters(this, 99, cache::FollowedCounters::Over(other->memory()));
  cache_.Announce();
  EXPECT_TRUE(Until([this] { return !HasScope(); }));
  other->Count(cache::InvalidationPlaces::OfTarget("/a/1"));
  owners.Set(this, {}, 0);
  const auto drop = [this](uint32_t scope) { cache_.DropObsolete(scope); };
  EXPECT_TRUE(owners.Sweep(this, 1, drop));
  cache_.Announce();
  Until([] { return false; }, 50);
  EXPECT_FALSE(HasScope());
  EXPECT_FALSE(owners.Sweep(this, limits::kCacheFormerMs, drop));
  cache_.Announce();
  EXPECT_TRUE(Until([this] { return Read("/a/2") == "two"; }));
  EXPECT_EQ(Read("/a/1"), std::nullopt);
}

// -- Owners that say anything.

TEST_F(SharedCacheTest, MemoryThatIsNoArenaIsNotMapped) {
  PlayOwner();
  const int file = memfd_create("unsealed", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 1024 * 1024), 0);
  const std::shared_ptr<SharedMemory> zeroes = SharedMemory::Create(64 * 1024);
  std::array<int, 2> pipe_fds{};
  ASSERT_EQ(pipe2(pipe_fds.data(), O_CLOEXEC), 0);
  for (const int fd : {file, zeroes->fd(), pipe_fds[0], named_.fd, -1}) {
    ASSERT_TRUE(channel_->Send(FrameType::kCacheIndex, {}, fd));
  }
  peer::CacheScope scope{kServer, 0, 70'000, 0, kPrefix, {}};
  ASSERT_TRUE(channel_->Send(FrameType::kCacheScope, peer::Encode(scope)));
  ASSERT_TRUE(Until([this] { return HasScope(); }));
  EXPECT_EQ(readers_.Find(kId)->reader, nullptr);
  EXPECT_FALSE(played_.is_broken);
  for (const int fd : {file, pipe_fds[0], pipe_fds[1]}) close(fd);
}

TEST_F(SharedCacheTest, ChunksOfTheWrongSizeAreMisses) {
  Configure(WithCache());
  Store("/a/1", "one");
  const ProcessCache::Memory memory = cache_.Share();
  PlayOwner();
  ASSERT_TRUE(channel_->Send(FrameType::kCacheIndex, {}, memory.index->fd()));
  peer::CacheScope scope{kServer, 0, OwnScope(), 0, kPrefix, {}};
  ASSERT_TRUE(channel_->Send(FrameType::kCacheScope, peer::Encode(scope)));
  const std::shared_ptr<SharedMemory> small = SharedMemory::Create(64 * 1024);
  uint32_t chunk = 0;
  while (memory.chunks[chunk].memory == nullptr) ++chunk;
  const std::string told = peer::Encode(peer::CacheChunk{chunk, memory.chunks[chunk].serial});
  ASSERT_TRUE(channel_->Send(FrameType::kCacheChunk, told, small->fd()));
  ASSERT_TRUE(Until([this] { return HasScope() && readers_.Find(kId)->reader != nullptr; }));
  EXPECT_EQ(Read("/a/1"), std::nullopt);
  ASSERT_TRUE(channel_->Send(FrameType::kCacheChunk, told, memory.chunks[chunk].memory->fd()));
  EXPECT_TRUE(Until([this] { return Read("/a/1") == "one"; }));
}

TEST_F(SharedCacheTest, NonsenseOfAnOwnerEndsItsLink) {
  const std::vector<std::pair<FrameType, std::string>> nonsense = {
      {FrameType::kCacheChunk, "short"},
      {FrameType::kCacheGone, "x"},
      {FrameType::kCacheScope, std::string(40, '\xff')},
      // A port is no scope.
      {FrameType::kCacheScope, peer::Encode(peer::CacheScope{kServer, 0, 8080, 0, kPrefix, {}})},
      // The scheme of the prefix is another one.
      {FrameType::kCacheScope,
       peer::Encode(peer::CacheScope{kServer, 0, 70'000, 0, "https://*:8080/a/", {}})},
      {FrameType::kCacheScope,
       peer::Encode(peer::CacheScope{kServer, 0, 70'000, 0, kPrefix, std::string(32, 't')})},
  };
  for (const auto& [type, payload] : nonsense) {
    arenas_.Forget(kId);
    ASSERT_TRUE(Until([this] { return readers_.Find(kId) == nullptr; }));
    PlayOwner();
    ASSERT_TRUE(channel_->Send(type, payload));
    EXPECT_TRUE(IsGivenUp()) << static_cast<int>(type) << payload;
    channel_ = nullptr;
    played_.is_broken = false;
    ASSERT_TRUE(Until([this] { return readers_.Find(kId) == nullptr; })) << "asked again later";
  }
}

TEST_F(SharedCacheTest, ScopesThatNobodyHasAskedForAreNotKept) {
  PlayOwner();
  for (uint32_t i = 0; i < 100; ++i) {
    const peer::CacheScope scope{kServer, i, 70'000 + i, 0, kPrefix, {}};
    ASSERT_TRUE(channel_->Send(FrameType::kCacheScope, peer::Encode(scope)));
  }
  ASSERT_TRUE(channel_->Send(FrameType::kCacheGone, peer::Encode(peer::CacheGone{UINT32_MAX})));
  ASSERT_TRUE(Until([this] { return HasScope(0); }));
  for (uint32_t i = 1; i < 100; ++i) EXPECT_EQ(Scope(i), nullptr);
}

TEST_F(SharedCacheTest, AnIndexThatSaysAnythingIsReadWithinItsBounds) {
  Configure(WithCache());
  const ProcessCache::Memory memory = cache_.Share();
  PlayOwner();
  peer::CacheScope scope{kServer, 0, 70'000, 0, kPrefix, {}};
  ASSERT_TRUE(channel_->Send(FrameType::kCacheScope, peer::Encode(scope)));
  const cache::ArenaShape shape = cache::ArenaShape::For(8 * 1024 * 1024);
  const std::shared_ptr<SharedMemory> index = SharedMemory::Create(shape.index_bytes());
  const std::shared_ptr<SharedMemory> chunk = SharedMemory::Create(shape.chunk_bytes());
  index->words()[cache::ArenaShape::kMagicAt].store(cache::kArenaMagic);
  index->words()[cache::ArenaShape::kSegmentBytesAt].store(shape.segment_bytes);
  index->words()[cache::ArenaShape::kChunksAt].store(shape.chunks_max);
  index->words()[cache::ArenaShape::kBucketsAt].store(shape.buckets);
  index->words()[cache::ArenaShape::kSerialsAt].store(1);
  ASSERT_TRUE(channel_->Send(FrameType::kCacheIndex, {}, index->fd()));
  ASSERT_TRUE(
      channel_->Send(FrameType::kCacheChunk, peer::Encode(peer::CacheChunk{0, 1}), chunk->fd()));
  ASSERT_TRUE(Until([this] {
    return HasScope() && readers_.Find(kId)->reader != nullptr &&
           readers_.Find(kId)->arena->chunks[0].memory != nullptr;
  }));
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    for (size_t i = shape.slots_at(); i < shape.slots_at() + shape.slots();
         i += 1 + random() % 64) {
      index->words()[i].store(random());
    }
    for (int i = 0; i < 64; ++i) {
      chunk->words()[random() % (shape.chunk_bytes() / 8)].store(random());
    }
    const std::string key = KeyOf(70'000, "/a/" + std::to_string(round));
    const uint64_t hash = HashText(key, 0);
    const size_t slot = shape.slots_at() + (hash & (shape.buckets - 1)) * cache::kWays;
    index->words()[slot].store(cache::Slot::Of(hash, random() % shape.bytes()).value);
    (void)Read("/a/" + std::to_string(round));
  }
}

// -- Readers that say anything.

TEST_F(SharedCacheTest, NonsenseOfAReaderCostsTheOwnerNothing) {
  Configure(WithCache());
  Store("/a/1", "one");
  PlayReader();
  const int file = memfd_create("unsealed", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  const std::shared_ptr<SharedMemory> large = SharedMemory::Create(1024 * 1024);
  for (const int fd : {file, large->fd(), named_.fd, -1}) {
    ASSERT_TRUE(channel_->Send(FrameType::kCacheHits, {}, fd));
  }
  ASSERT_TRUE(channel_->Send(FrameType::kCacheAsk, "nonsense"));
  ASSERT_TRUE(channel_->Send(FrameType::kCacheAsk, peer::Encode(peer::CacheAsk{kServer, 0})));
  ASSERT_TRUE(Until([this] { return played_.Has(FrameType::kCacheScope); }));
  EXPECT_TRUE(played_.Has(FrameType::kCacheIndex));
  EXPECT_TRUE(played_.Has(FrameType::kCacheChunk));
  close(file);
}

TEST_F(SharedCacheTest, AReaderCannotWriteWhatItIsGiven) {
  Configure(WithCache());
  Store("/a/1", "one");
  PlayReader();
  ASSERT_TRUE(channel_->Send(FrameType::kCacheAsk, peer::Encode(peer::CacheAsk{kServer, 0})));
  ASSERT_TRUE(Until([this] { return played_.Has(FrameType::kCacheChunk); }));
  ASSERT_GE(played_.fds.size(), 2u);
  for (const int fd : played_.fds) {
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    EXPECT_LT(pwrite(fd, "x", 1, 0), 0);
    EXPECT_NE(ftruncate(fd, 0), 0);
  }
}

TEST_F(SharedCacheTest, AReaderThatReadsNothingIsToldNothingMore) {
  Configure(WithCache());
  PlayReader();
  channel_->set_is_reading(false);
  for (uint32_t i = 0; i < 4000; ++i) {
    if (!channel_->Send(FrameType::kCacheAsk, peer::Encode(peer::CacheAsk{kServer, i}))) break;
    if (i % 500 == 0) {
      ASSERT_TRUE(Until([this] { return channel_->unsent_bytes() == 0; }));
    }
  }
  ASSERT_TRUE(Until([this] { return channel_->unsent_bytes() == 0; }));
  const int descriptors = test::OpenDescriptors();
  for (int i = 0; i < 100; ++i) {
    cache_.SetBytes(this, (i % 2 == 0 ? 4 : 8) * 1024 * 1024);
    Store("/a/1", "one");
    Until([] { return false; }, 1);
  }
  EXPECT_LE(test::OpenDescriptors(), descriptors + 4);
  // When it reads it hears of all.
  channel_->set_is_reading(true);
  ASSERT_TRUE(Until([this] {
    size_t scopes = 0;
    for (const FrameType type : played_.types) scopes += type == FrameType::kCacheScope ? 1 : 0;
    return scopes >= 4000;
  }));
  cache_.SetBytes(this, 0);
}

TEST_F(SharedCacheTest, ReadersAreBounded) {
  Configure(WithCache());
  std::vector<int> fds;
  peer::Link hello;
  hello.id = 77;
  for (size_t i = 0; i < limits::kCacheReadersMax + 5; ++i) {
    const int fd = sharing::ConnectTo(sharing::MemberName(kId));
    ASSERT_GE(fd, 0);
    fds.push_back(fd);
    const std::string link = peer::Encode(hello);
    const std::string ask = peer::Encode(peer::CacheAsk{kServer, 0});
    const std::string bytes = peer::FrameHeader(FrameType::kLink, link.size(), 0) + link +
                              peer::FrameHeader(FrameType::kCacheAsk, ask.size(), 0) + ask;
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    ASSERT_TRUE(Until([] { return true; }));
    Until([] { return false; }, 2);
  }
  int answered = 0;
  Until([] { return false; }, 100);
  for (const int fd : fds) {
    char byte = 0;
    if (recv(fd, &byte, 1, MSG_DONTWAIT) == 1) ++answered;
    close(fd);
  }
  EXPECT_EQ(answered, static_cast<int>(limits::kCacheReadersMax));
}

#endif

}  // namespace
}  // namespace httpsys::engine
