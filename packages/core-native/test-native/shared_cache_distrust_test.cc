// The cache of one member in the hands of another one: owners and readers that say anything.

#include "support/shared_cache_fixture.h"

namespace httpsys::engine {
namespace {

#ifdef __linux__

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
