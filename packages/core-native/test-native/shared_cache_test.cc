// The cache of one member in the hands of another one: what is given, and what the reader maps of
// it.

#include "support/shared_cache_fixture.h"

namespace httpsys::engine {
namespace {

#ifdef __linux__

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
       {&ServerSettings::max_bandwidth, &ServerSettings::max_connections_per_address,
        &ServerSettings::max_connections_per_prefix}) {
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
  settings.strict_url = true;
  settings.cache.ignore_reload = true;
  settings.cache.status = true;
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
  links_ = std::make_unique<PeerLinks>(&loop_, kId, &patience_, &no_owner_, &no_owner_);
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

#endif

}  // namespace
}  // namespace httpsys::engine
