#include "cache/cache_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/seeded_hash.h"
#include "cache/arena_reader.h"
#include "support/zipf_trace.h"

namespace httpsys::cache {
namespace {

constexpr uint64_t kSeed = 77;

// A store and its own reader.
class TestStore {
 public:
  explicit TestStore(const ArenaShape& shape) : store_(CacheStore::Create(shape, kSeed)) {
    reader_ = ArenaReader::Open(store_->arena().index());
  }

  CacheStore* operator->() { return store_.get(); }
  bool Store(std::string_view key, std::string_view body) {
    EntryParts parts;
    parts.key = key;
    parts.body = body;
    return store_->Store(parts);
  }
  // Looks for an entry, and counts a hit.
  bool Find(std::string_view key) {
    MapChunks();
    const uint64_t hash = HashText(key, kSeed);
    if (reader_->Find(key, hash, &buffer_, &found_) != FindResult::kHit) return false;
    store_->own_hits().Note(found_.slot_at, found_.slot);
    return true;
  }
  // As many entries as a walk finds.
  size_t Walk() {
    size_t entries = 0;
    store_->DropIf([&](std::string_view, const EntryHead&) {
      ++entries;
      return false;
    });
    return entries;
  }
  const FoundEntry& found() const { return found_; }

 private:
  void MapChunks() {
    if (version_ == store_->version()) return;
    version_ = store_->version();
    const ArenaWriter& arena = store_->arena();
    for (uint32_t chunk = 0; chunk < arena.shape().chunks_max; ++chunk) {
      reader_->ForgetChunk(chunk);
      if (arena.chunk(chunk) == nullptr) continue;
      ASSERT_TRUE(reader_->SetChunk(chunk, arena.serial(chunk), arena.chunk(chunk)));
    }
  }

  std::unique_ptr<CacheStore> store_;
  std::unique_ptr<ArenaReader> reader_;
  CopyBuffer buffer_;
  FoundEntry found_;
  uint64_t version_ = 0;
};

constexpr ArenaShape kShape{4096, 4, 64};  // 8 segments.
// With its head and its key an entry of 1,024 bytes: four of them fill a segment.
const std::string kBody(1024 - sizeof(EntryHead) - 8, 'b');

std::string KeyOf(int number) { return std::to_string(1'000'000 + number); }

TEST(CacheStoreTest, EntriesAreStoredReplacedAndDropped) {
  TestStore store(kShape);
  EXPECT_EQ(store->memory_bytes(), 0u);
  ASSERT_TRUE(store.Store("key", "one"));
  EXPECT_EQ(store->memory_bytes(), 8192u);
  ASSERT_TRUE(store.Find("key"));
  EXPECT_EQ(store.found().body, "one");
  ASSERT_TRUE(store.Store("key", "two"));
  ASSERT_TRUE(store.Find("key"));
  EXPECT_EQ(store.found().body, "two");
  EXPECT_EQ(store->counts().entries, 1u);
  EXPECT_EQ(store.Walk(), 1u);
  EXPECT_TRUE(store->Drop("key"));
  EXPECT_FALSE(store->Drop("key"));
  EXPECT_FALSE(store.Find("key"));
  EXPECT_EQ(store->counts().entries, 0u);
}

TEST(CacheStoreTest, LargeEntriesAreRefused) {
  TestStore store(kShape);
  EXPECT_TRUE(store.Store("12345678", std::string(2048 - sizeof(EntryHead) - 8, 'x')));
  EXPECT_FALSE(store.Store("12345678", std::string(2048 - sizeof(EntryHead) - 7, 'x')));
  // The one before stays: the caller drops it if it is obsolete.
  EXPECT_TRUE(store.Find("12345678"));
}

TEST(CacheStoreTest, MemoryGrowsByChunksUpToItsBound) {
  TestStore store(kShape);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(store.Store(KeyOf(i), kBody));
    EXPECT_LE(store->memory_bytes(), kShape.bytes());
    ASSERT_TRUE(store.Find(KeyOf(i)));
  }
  EXPECT_EQ(store->memory_bytes(), kShape.bytes());
  EXPECT_EQ(store.Walk(), store->counts().entries);
  // All segments but the one in reserve have entries, and one of them is being filled.
  EXPECT_GE(store->counts().entries, 24u);
  EXPECT_EQ(store->counts().stored, 1'000u);
  EXPECT_EQ(store->counts().evicted, 1'000 - store->counts().entries);
}

TEST(CacheStoreTest, PopularEntriesSurviveAFlood) {
  TestStore store(kShape);
  ASSERT_TRUE(store.Store("popular", kBody));
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_TRUE(store.Find("popular")) << i;
    ASSERT_TRUE(store.Store(KeyOf(i), kBody));
  }
  EXPECT_GT(store->counts().copied, 0u);
}

TEST(CacheStoreTest, AKeyThatComesBackSoonGoesToTheMainLog) {
  TestStore store(kShape);
  const auto has = [&](std::string_view key) {
    return !store->arena().FindSlot(HashText(key, kSeed)).slot.is_empty();
  };
  int next = 0;
  ASSERT_TRUE(store.Store("returning", kBody));
  while (has("returning")) ASSERT_TRUE(store.Store(KeyOf(next++), kBody));
  ASSERT_TRUE(store.Store("returning", kBody));
  ASSERT_TRUE(store.Store("new", kBody));
  // Without a hit the new key leaves with its segment of the small log. The main log needs no room.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store.Store(KeyOf(next++), kBody));
  EXPECT_FALSE(has("new"));
  EXPECT_TRUE(has("returning"));
}

TEST(CacheStoreTest, EntriesOfAUrlAreDroppedByAWalk) {
  TestStore store(kShape);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(store.Store(KeyOf(i), kBody));
  std::set<std::string> seen;
  const size_t dropped = store->DropIf([&](std::string_view key, const EntryHead& entry) {
    EXPECT_TRUE(seen.insert(std::string(key)).second);
    EXPECT_EQ(entry.body_bytes, kBody.size());
    return key.back() == '1';
  });
  EXPECT_EQ(dropped, 2u);
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_FALSE(store.Find(KeyOf(1)));
  EXPECT_FALSE(store.Find(KeyOf(11)));
  EXPECT_TRUE(store.Find(KeyOf(2)));
  EXPECT_EQ(store->counts().entries, 14u);
}

TEST(CacheStoreTest, AWalkInStepsMeetsWhatMovesInBetween) {
  TestStore store(kShape);
  for (int i = 0; i < 28; ++i) {
    ASSERT_TRUE(store.Store(KeyOf(i), kBody));
    // Two hits, so that the entries are kept when others need their room.
    ASSERT_TRUE(store.Find(KeyOf(i)));
    ASSERT_TRUE(store.Find(KeyOf(i)));
  }
  std::set<std::string> left;
  for (int i = 0; i < 28; ++i) {
    if (store.Find(KeyOf(i))) left.insert(KeyOf(i));
  }
  ASSERT_GT(left.size(), 8u);
  const auto is_old = [&](std::string_view key, const EntryHead&) {
    return left.contains(std::string(key));
  };
  CacheStore::Walk walk;
  int number = 100;
  int steps = 1;
  for (; store->DropSomeIf(is_old, &walk); ++steps) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.Store(KeyOf(number++), kBody));
  }
  EXPECT_GT(steps, 2);
  for (const std::string& key : left) EXPECT_FALSE(store.Find(key));
  EXPECT_TRUE(store.Find(KeyOf(number - 1)));
}

TEST(CacheStoreTest, MemoryIsGivenBack) {
  TestStore store(kShape);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store.Store(KeyOf(i), kBody));
  store->SetChunks(2);
  EXPECT_EQ(store->memory_bytes(), 2 * kShape.chunk_bytes());
  EXPECT_EQ(store.Walk(), store->counts().entries);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store.Store(KeyOf(i), kBody));
    ASSERT_TRUE(store.Find(KeyOf(i)));
  }
  EXPECT_EQ(store->memory_bytes(), 2 * kShape.chunk_bytes());
  store->Clear();
  EXPECT_EQ(store->memory_bytes(), 0u);
  EXPECT_EQ(store->counts().entries, 0u);
  EXPECT_FALSE(store.Find(KeyOf(99)));
  ASSERT_TRUE(store.Store(KeyOf(1), kBody));
  EXPECT_TRUE(store.Find(KeyOf(1)));
  store->SetChunks(99);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store.Store(KeyOf(i), kBody));
  EXPECT_EQ(store->memory_bytes(), kShape.bytes());
}

TEST(CacheStoreTest, OneChunkIsEnough) {
  TestStore store({4096, 1, 1});
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(store.Store(KeyOf(i % 7), kBody));
    ASSERT_TRUE(store.Find(KeyOf(i % 7)));
  }
  EXPECT_EQ(store.Walk(), store->counts().entries);
}

TEST(CacheStoreTest, AFullBucketLosesTheEntryWithTheFewestHits) {
  TestStore store({64 * 1024, 2, 1});  // One bucket.
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(store.Store(KeyOf(i), "x"));
    for (int hit = 0; hit < (i == 5 ? 0 : 2); ++hit) ASSERT_TRUE(store.Find(KeyOf(i)));
  }
  ASSERT_TRUE(store.Store(KeyOf(8), "x"));
  for (int i = 0; i <= 8; ++i) EXPECT_EQ(store.Find(KeyOf(i)), i != 5) << i;
  EXPECT_EQ(store->counts().entries, 8u);
  EXPECT_EQ(store->counts().evicted, 1u);
}

TEST(CacheStoreTest, HitsOfOtherProcessesCount) {
  for (const bool is_counted : {true, false}) {
    TestStore store(kShape);
    std::vector<HitTable::Cell> cells(256);
    HitTable others(cells.data(), cells.size());
    store->AddHits(&others);
    if (!is_counted) store->RemoveHits(&others);
    ASSERT_TRUE(store.Store("elsewhere", kBody));
    const uint64_t hash = HashText("elsewhere", kSeed);
    for (int i = 0; i < 100; ++i) {
      const ArenaWriter::Place place = store->arena().FindSlot(hash);
      if (!place.slot.is_empty()) others.Note(place.slot_at, place.slot);
      ASSERT_TRUE(store.Store(KeyOf(i), kBody));
    }
    EXPECT_EQ(store->arena().FindSlot(hash).slot.is_empty(), !is_counted);
  }
}

TEST(HitTableTest, HitsOfAnotherEntryInTheSlotDoNotCount) {
  std::vector<HitTable::Cell> cells(8);
  HitTable hits(cells.data(), cells.size());
  const Slot slot = Slot::Of(0x1234'5678'0000'0000, 64);
  for (uint32_t i = 1; i <= 5; ++i) {
    hits.Note(3, slot);
    EXPECT_EQ(hits.Count(3, slot), std::min(i, HitTable::kCountMax));
  }
  // One of 64 has the same bits.
  size_t wrong = 0;
  for (uint64_t offset = 80; offset < 80 + 64 * 16; offset += 16) {
    if (hits.Count(3, Slot::Of(0x1234'5678'0000'0000, offset)) != 0) ++wrong;
  }
  EXPECT_LE(wrong, 4u);
  EXPECT_EQ(hits.Count(4, slot), 0u);
  const Slot other = Slot::Of(0x9999'5678'0000'0000, 128);
  hits.Note(3, other);
  EXPECT_EQ(hits.Count(3, other), 1u);
  EXPECT_EQ(hits.Count(3, slot), 0u);
}

TEST(HitTableTest, ATableOfAnyLengthIsUsedWithinItsBounds) {
  const std::shared_ptr<SharedMemory> memory = SharedMemory::Create(24);
  HitTable writer = HitTable::Over(*memory);
  const HitTable reader = HitTable::Over(*memory);
  const Slot slot = Slot::Of(0x1234'5678'0000'0000, 64);
  // 16 of the 24 bytes.
  for (uint32_t slot_at = 0; slot_at < 64; ++slot_at) writer.Note(slot_at, slot);
  EXPECT_EQ(reader.Count(15, slot), HitTable::kCountMax);
  EXPECT_EQ(reader.Count(16 + 15, slot), HitTable::kCountMax);
  EXPECT_EQ(memory->words()[2], 0u);
}

TEST(GhostTagsTest, OnlyTheNewestKeysAreRemembered) {
  GhostTags ghosts(1024);
  for (uint64_t i = 0; i < 100; ++i) ghosts.Add(i | i << 40);
  EXPECT_TRUE(ghosts.Take(99 | uint64_t{99} << 40, 10));
  EXPECT_FALSE(ghosts.Take(99 | uint64_t{99} << 40, 10));
  EXPECT_TRUE(ghosts.Take(90 | uint64_t{90} << 40, 10));
  EXPECT_FALSE(ghosts.Take(89 | uint64_t{89} << 40, 10));
  EXPECT_FALSE(ghosts.Take(95, 10));
  EXPECT_FALSE(ghosts.Take(500, 1000));
}

// -- Hit rates, beside those of the design (design/cache.md: S3-FIFO, 16 segments).

struct Trial {
  ArenaShape shape;   // 16 segments, one of which is in reserve.
  size_t body_bytes;  // Makes entries of one size.
  size_t keys;        // So many that the memory has room for a hundredth or a tenth of them.
};

// Percent of the requests that find their entry.
double HitRateOf(const Trial& trial, size_t warm, size_t counted) {
  TestStore store(trial.shape);
  ZipfTrace trace(trial.keys, 1);
  const std::string body(trial.body_bytes, 'b');
  size_t hits = 0;
  for (size_t i = 0; i < warm + counted; ++i) {
    const uint64_t number = trace.Next();
    char key[sizeof number];
    std::memcpy(key, &number, sizeof key);
    const bool is_hit = store.Find({key, sizeof key});
    if (!is_hit && !store.Store({key, sizeof key}, body)) return -1;
    if (i >= warm && is_hit) ++hits;
  }
  return 100 * static_cast<double>(hits) / static_cast<double>(counted);
}

TEST(HitRateTest, AHundredthOfTheKeysAnswersHalfOfTheRequests) {
  // Entries of 96 bytes, 10,912 in 16 segments. LRU has 39.5, and the most popular keys 51.6.
  const Trial trial{{64 * 1024, 8, 4096}, 16, 1'091'200};
  EXPECT_NEAR(HitRateOf(trial, 1'000'000, 500'000), 49.6, 1);
}

// Without optimisation, as with sanitizers, this would take a minute.
#ifdef __OPTIMIZE__

TEST(HitRateTest, ATenthOfTheKeysAnswersMoreThanTwoThirdsOfTheRequests) {
  // Entries of 80 bytes, 104,848 in 16 segments. LRU has 63.7, and the most popular keys 73.1.
  const Trial trial{{512 * 1024, 8, 32768}, 0, 1'048'480};
  EXPECT_NEAR(HitRateOf(trial, 4'000'000, 1'000'000), 70.0, 1);
}

#endif

}  // namespace
}  // namespace httpsys::cache
