#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/seeded_hash.h"
#include "cache/arena_reader.h"
#include "cache/arena_writer.h"

namespace httpsys::cache {
namespace {

constexpr uint64_t kSeed = 0x1234'5678'9abc'def0;

// Two segments of one chunk, which the writer uses by turns: readers often lose an entry.
constexpr ArenaShape kSmall{64 * 1024, 1, 16};

EntryParts PartsOf(std::string_view key, std::string_view head, std::string_view body) {
  EntryParts parts;
  parts.key = key;
  parts.head = head;
  parts.body = body;
  return parts;
}

// An arena of two segments, its reader, and what tests do with both.
class ArenaTest : public testing::Test {
 protected:
  void SetUp() override { Make(kSmall); }

  void Make(const ArenaShape& shape) {
    writer_ = ArenaWriter::Create(shape, kSeed);
    ASSERT_NE(writer_, nullptr);
    ASSERT_TRUE(writer_->AddChunk(0));
    writer_->OpenSegment(0);
    reader_ = ArenaReader::Open(writer_->index());
    ASSERT_NE(reader_, nullptr);
    ASSERT_TRUE(reader_->SetChunk(0, writer_->serial(0), writer_->chunk(0)));
  }

  uint64_t HashOf(std::string_view key) const { return HashText(key, kSeed); }

  // Writes an entry without making it visible.
  std::optional<uint64_t> Append(std::string_view key, std::string_view body,
                                 uint32_t segment = 0) {
    return writer_->Append(segment, HashOf(key), PartsOf(key, "head", body));
  }
  void Publish(std::string_view key, uint64_t offset) {
    const ArenaWriter::Place old = writer_->FindSlot(HashOf(key));
    const uint32_t at = old.slot.is_empty() ? writer_->SlotAt(HashOf(key), 0).slot_at : old.slot_at;
    writer_->SetSlot(at, Slot::Of(HashOf(key), offset));
  }
  void Store(std::string_view key, std::string_view body, uint32_t segment = 0) {
    const std::optional<uint64_t> offset = Append(key, body, segment);
    ASSERT_TRUE(offset.has_value());
    Publish(key, *offset);
  }
  FindResult Find(std::string_view key) {
    found_ = {};
    return reader_->Find(key, HashOf(key), &buffer_, &found_);
  }

  std::unique_ptr<ArenaWriter> writer_;
  std::unique_ptr<ArenaReader> reader_;
  CopyBuffer buffer_;
  FoundEntry found_;
};

TEST_F(ArenaTest, AnEntryIsFoundAsItWasStored) {
  EntryParts parts = PartsOf("key", "head", "body of an entry");
  parts.status = 404;
  parts.kind = EntryKind::kVaryRecord;
  parts.created_s = 17;
  parts.terms.lifetime_s = 60;
  const std::optional<uint64_t> offset = writer_->Append(0, HashOf("key"), parts);
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(Find("key"), FindResult::kMiss);
  Publish("key", *offset);
  ASSERT_EQ(Find("key"), FindResult::kHit);
  EXPECT_EQ(found_.head, "head");
  EXPECT_EQ(found_.body, "body of an entry");
  EXPECT_EQ(found_.entry.status, 404);
  EXPECT_EQ(found_.entry.kind, EntryKind::kVaryRecord);
  EXPECT_EQ(found_.entry.created_s, 17);
  EXPECT_EQ(found_.entry.terms.lifetime_s, 60u);
  EXPECT_EQ(Find("kez"), FindResult::kMiss);
  EXPECT_EQ(Find(""), FindResult::kMiss);
}

TEST_F(ArenaTest, EntriesOfEverySizeAreFound) {
  std::string body;
  for (size_t bytes = 0; bytes <= 70; ++bytes) {
    const std::string key = "key" + std::string(bytes, 'k');
    body.assign(bytes, static_cast<char>('a' + bytes % 26));
    Store(key, body);
    ASSERT_EQ(Find(key), FindResult::kHit) << bytes;
    EXPECT_EQ(found_.body, body);
  }
}

TEST_F(ArenaTest, AnotherKeyWithTheSameHashIsAMiss) {
  const std::optional<uint64_t> offset =
      writer_->Append(0, HashOf("other"), PartsOf("mykey", "head", "body"));
  ASSERT_TRUE(offset.has_value());
  Publish("other", *offset);
  EXPECT_EQ(Find("other"), FindResult::kMiss);
}

TEST_F(ArenaTest, WhatDoesNotFitIsNotWritten) {
  const size_t longest = kSmall.segment_bytes - sizeof(EntryHead) - 8 - 8;
  EXPECT_FALSE(Append("key", std::string(longest + 1, 'x')).has_value());
  EXPECT_TRUE(Append("key", std::string(longest, 'x')).has_value());
  EXPECT_EQ(writer_->used_bytes(0), kSmall.segment_bytes);
  EXPECT_FALSE(Append("key", "").has_value());
  // A walk ends with the segment, although the next one has entries.
  writer_->OpenSegment(1);
  Store("next", "body", 1);
  writer_->RetireSegment(0);
  EXPECT_EQ(Find("next"), FindResult::kHit);
}

TEST_F(ArenaTest, AReplacedEntryIsNotFoundAnyMore) {
  Store("key", "one");
  Store("key", "two");
  ASSERT_EQ(Find("key"), FindResult::kHit);
  EXPECT_EQ(found_.body, "two");
}

TEST_F(ArenaTest, EntriesOfARetiredSegmentAreUnreachable) {
  Store("a", "1");
  writer_->OpenSegment(1);
  Store("b", "2", 1);
  writer_->RetireSegment(0);
  EXPECT_EQ(Find("a"), FindResult::kMiss);
  EXPECT_EQ(Find("b"), FindResult::kHit);
  EXPECT_FALSE(writer_->is_open(0));
  // Retired by its generation alone, as if the writer had been killed before it emptied the slot.
  const ArenaWriter::Place place = writer_->FindSlot(HashOf("b"));
  writer_->RetireSegment(1);
  writer_->SetSlot(place.slot_at, place.slot);
  EXPECT_EQ(Find("b"), FindResult::kMiss);
}

TEST_F(ArenaTest, ACopyIsFoundAtItsNewPlace) {
  Store("key", "body");
  const uint64_t old = writer_->FindSlot(HashOf("key")).slot.offset();
  writer_->OpenSegment(1);
  const std::optional<uint64_t> copy = writer_->AppendCopy(1, old);
  ASSERT_TRUE(copy.has_value());
  Publish("key", *copy);
  writer_->RetireSegment(0);
  ASSERT_EQ(Find("key"), FindResult::kHit);
  EXPECT_EQ(found_.body, "body");
  EXPECT_EQ(found_.slot.offset(), *copy);
}

TEST_F(ArenaTest, AChunkThatWasReplacedIsNotReadInItsOldMemory) {
  Store("key", "old");
  const ArenaWriter::Place place = writer_->FindSlot(HashOf("key"));
  writer_->RetireSegment(0);
  writer_->RemoveChunk(0);
  EXPECT_EQ(Find("key"), FindResult::kMiss);
  ASSERT_TRUE(writer_->AddChunk(0));
  writer_->OpenSegment(0);
  Store("key", "new");
  ASSERT_EQ(writer_->FindSlot(HashOf("key")).slot.value, place.slot.value);
  EXPECT_EQ(Find("key"), FindResult::kMiss);
  ASSERT_TRUE(reader_->SetChunk(0, writer_->serial(0), writer_->chunk(0)));
  ASSERT_EQ(Find("key"), FindResult::kHit);
  EXPECT_EQ(found_.body, "new");
  reader_->ForgetChunk(0);
  EXPECT_EQ(Find("key"), FindResult::kMiss);
}

TEST_F(ArenaTest, OnlyChunksOfTheArenaAreMapped) {
  EXPECT_FALSE(reader_->SetChunk(1, 1, writer_->chunk(0)));
  EXPECT_FALSE(reader_->SetChunk(0, 1, nullptr));
  EXPECT_FALSE(reader_->SetChunk(0, 1, writer_->index()));
  reader_->ForgetChunk(7);
}

TEST_F(ArenaTest, AnIndexIsOpenedOnlyIfItsSizesAreRight) {
  EXPECT_EQ(ArenaReader::Open(nullptr), nullptr);
  EXPECT_EQ(ArenaReader::Open(SharedMemory::Create(8)), nullptr);
  const auto open = [](size_t at, uint64_t word) {
    std::shared_ptr<SharedMemory> index = SharedMemory::Create(kSmall.index_bytes());
    SharedWord* words = index->words();
    words[ArenaShape::kMagicAt] = kArenaMagic;
    words[ArenaShape::kSegmentBytesAt] = kSmall.segment_bytes;
    words[ArenaShape::kChunksAt] = kSmall.chunks_max;
    words[ArenaShape::kBucketsAt] = kSmall.buckets;
    words[at] = word;
    return ArenaReader::Open(index) != nullptr;
  };
  EXPECT_TRUE(open(ArenaShape::kSeedAt, 5));
  EXPECT_FALSE(open(ArenaShape::kMagicAt, 0));
  for (const uint64_t word : {uint64_t{0}, uint64_t{3}, uint64_t{32}, uint64_t{1} << 32,
                              (uint64_t{1} << 32) + 16, UINT64_MAX}) {
    EXPECT_FALSE(open(ArenaShape::kBucketsAt, word)) << word;
    EXPECT_FALSE(open(ArenaShape::kSegmentBytesAt, word)) << word;
    EXPECT_FALSE(open(ArenaShape::kChunksAt, word + 8)) << word;
  }
}

TEST(ArenaShapeTest, ShapesFollowFromTheMemory) {
  const ArenaShape usual = ArenaShape::For(32 * 1024 * 1024);
  EXPECT_TRUE(usual.is_valid());
  EXPECT_EQ(usual.segments(), 16u);
  EXPECT_EQ(usual.slots(), 65536u);
  EXPECT_EQ(ArenaShape::For(0).chunks_max, 1u);
  EXPECT_TRUE(ArenaShape::For(UINT64_MAX).is_valid());
  EXPECT_LE(ArenaShape::For(UINT64_MAX).index_bytes(), kIndexBytesMax);
}

// -- Steps of a look-up that are left out must be missed. Each test lets the writer do, at one
// place within the look-up, what another process does at the worst moment.

// Leaves out steps, and calls functions between them.
template <bool kSlotAgain, bool kGenerationAgain>
struct SomeSteps {
  static constexpr bool kLooksAtSlotAgain = kSlotAgain;
  static constexpr bool kLooksAtGenerationAgain = kGenerationAgain;
  std::function<void()> after_slot = [] {};
  std::function<void()> within_copy = [] {};
  void AfterSlot() { after_slot(); }
  void WithinCopy() { within_copy(); }
};
using AllSteps = SomeSteps<true, true>;
using WithoutGeneration = SomeSteps<true, false>;
using WithoutSlot = SomeSteps<false, true>;

class ArenaRaceTest : public ArenaTest {
 protected:
  static constexpr size_t kBodyBytes = 8000;

  // The segment is reused while the entry is being copied.
  template <typename Steps>
  FindResult FindWhileTheSegmentIsReused() {
    Store("key", std::string(kBodyBytes, 'a'));
    Steps steps;
    steps.within_copy = [this] { Reuse('b'); };
    return FindEntry(reader_->view(), "key", HashOf("key"), &buffer_, &found_, &steps);
  }

  // The segment is reused after the slot was read, and its new entry is half-written while it is
  // copied.
  template <typename Steps>
  FindResult FindWhileTheNextEntryIsWritten() {
    Store("key", std::string(kBodyBytes, 'a'));
    Steps steps;
    steps.after_slot = [this] {
      Reuse('b');
      // The second half of the body is still that of the entry before.
      SharedWord* words = const_cast<SharedWord*>(reader_->view().chunks[0].words);
      const std::string rest(kBodyBytes / 2, 'a');
      StoreBytes(rest.data(), rest.size(), words + (kBodyBytes / 2 + 128) / 8);
    };
    return FindEntry(reader_->view(), "key", HashOf("key"), &buffer_, &found_, &steps);
  }

  bool IsTorn() const { return found_.body.find_first_not_of(found_.body[0]) != std::string::npos; }

 private:
  // Writes another entry to the same place, without making it visible.
  void Reuse(char c) {
    writer_->RetireSegment(0);
    writer_->OpenSegment(0);
    ASSERT_TRUE(Append("key", std::string(kBodyBytes, c)).has_value());
  }
};

TEST_F(ArenaRaceTest, ASegmentThatIsReusedWithinTheCopyIsNoticed) {
  EXPECT_EQ(FindWhileTheSegmentIsReused<AllSteps>(), FindResult::kChanged);
}

TEST_F(ArenaRaceTest, WithoutTheSecondLookAtTheGenerationTheEntryIsTorn) {
  ASSERT_EQ(FindWhileTheSegmentIsReused<WithoutGeneration>(), FindResult::kHit);
  EXPECT_TRUE(IsTorn());
}

TEST_F(ArenaRaceTest, ASegmentThatIsReusedBehindTheSlotIsNoticed) {
  EXPECT_EQ(FindWhileTheNextEntryIsWritten<AllSteps>(), FindResult::kMiss);
}

TEST_F(ArenaRaceTest, WithoutTheSecondLookAtTheSlotTheEntryIsTorn) {
  ASSERT_EQ(FindWhileTheNextEntryIsWritten<WithoutSlot>(), FindResult::kHit);
  EXPECT_TRUE(IsTorn());
}

TEST_F(ArenaRaceTest, AnEntryThatIsReplacedWithinTheCopyIsStillWhole) {
  Store("key", std::string(kBodyBytes, 'a'));
  AllSteps steps;
  steps.within_copy = [this] { Store("key", std::string(kBodyBytes, 'b')); };
  ASSERT_EQ(FindEntry(reader_->view(), "key", HashOf("key"), &buffer_, &found_, &steps),
            FindResult::kHit);
  EXPECT_EQ(found_.body, std::string(kBodyBytes, 'a'));
}

// Bodies say by themselves whether they are whole.
std::string BodyOf(uint64_t number, size_t bytes) {
  std::string body = std::to_string(number) + ":";
  while (body.size() < bytes) body.push_back(static_cast<char>('a' + (number + body.size()) % 26));
  return body;
}
bool IsWhole(std::string_view body) {
  return body == BodyOf(std::stoull(std::string(body)), body.size());
}

TEST_F(ArenaTest, LanesReadWhileOneOfThemWrites) {
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> hits{0};
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 2; ++lane) {
    lanes.emplace_back([&, lane] {
      const auto reader = ArenaReader::Open(writer_->index());
      ASSERT_TRUE(reader->SetChunk(0, writer_->serial(0), writer_->chunk(0)));
      CopyBuffer buffer;
      FoundEntry found;
      std::minstd_rand random(static_cast<unsigned>(lane + 1));
      while (!is_over) {
        const std::string key = "key" + std::to_string(random() % 4);
        if (reader->Find(key, HashOf(key), &buffer, &found) != FindResult::kHit) continue;
        ASSERT_TRUE(IsWhole(found.body));
        hits.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  uint32_t segment = 0;
  for (uint64_t number = 0; number < 4'000 || hits < 500; ++number) {
    const std::string key = "key" + std::to_string(number % 4);
    const std::string body = BodyOf(number, 500 + number % 4 * 1000);
    std::optional<uint64_t> offset = Append(key, body, segment);
    if (!offset.has_value()) {
      segment ^= 1;
      writer_->RetireSegment(segment);
      writer_->OpenSegment(segment);
      offset = Append(key, body, segment);
      ASSERT_TRUE(offset.has_value());
    }
    Publish(key, *offset);
    if (number % 64 == 0) std::this_thread::yield();
  }
  is_over = true;
  for (std::thread& lane : lanes) lane.join();
}

// -- A writer that writes anything.

// An arena whose memory has exactly its size, so that the address sanitizer sees what is read
// outside of it.
class HostileArenaTest : public testing::Test {
 protected:
  static constexpr ArenaShape kShape{kSegmentBytesMin, 2, 2};

  HostileArenaTest() {
    index_ = std::make_unique<SharedWord[]>(kShape.index_bytes() / 8);
    for (auto& chunk : chunks_) chunk = std::make_unique<SharedWord[]>(kShape.chunk_bytes() / 8);
    views_ = {{chunks_[0].get(), 7}, {chunks_[1].get(), 7}};
  }

  ArenaView view() const { return {kShape, index_.get(), views_}; }
  void SetSlot(size_t at, uint64_t value) { index_[kShape.slots_at() + at] = value; }
  void SetSerials() {
    for (size_t i = 0; i < 2; ++i) index_[ArenaShape::kSerialsAt + i] = 7;
  }
  SharedWord* WordsAt(uint64_t offset) {
    return chunks_[offset / kShape.chunk_bytes()].get() + offset % kShape.chunk_bytes() / 8;
  }
  // Looks for a key whose bucket is the first one.
  FindResult Find() {
    EveryStep steps;
    return FindEntry(view(), "key", kHash, &buffer_, &found_, &steps);
  }

  static constexpr uint64_t kHash = 0x1111'2222'0000'0000;
  std::unique_ptr<SharedWord[]> index_;
  std::unique_ptr<SharedWord[]> chunks_[2];
  std::vector<ArenaView::Chunk> views_;
  CopyBuffer buffer_;
  FoundEntry found_;
};

TEST_F(HostileArenaTest, SlotsThatNameNoPlaceAreRefused) {
  SetSerials();
  SetSlot(0, Slot::Of(kHash, kShape.bytes()).value);
  EXPECT_EQ(Find(), FindResult::kRefused);
  SetSlot(0, kHash | 0xffff'ffff);
  EXPECT_EQ(Find(), FindResult::kRefused);
  SetSlot(0, kHash);  // The place before the first one.
  EXPECT_EQ(Find(), FindResult::kRefused);
  // No room for a head before the end of the segment.
  SetSlot(0, Slot::Of(kHash, kShape.segment_bytes - 16).value);
  EXPECT_EQ(Find(), FindResult::kRefused);
  SetSlot(0, Slot::Of(kHash, kShape.bytes() - 16).value);
  EXPECT_EQ(Find(), FindResult::kRefused);
}

TEST_F(HostileArenaTest, EntriesThatAreLongerThanTheirSegmentAreRefused) {
  SetSerials();
  EntryHead entry;
  entry.hash = kHash;
  entry.key_bytes = 3;
  const uint64_t offset = kShape.bytes() - 1024;
  const auto find = [&](uint32_t head_bytes, uint32_t body_bytes) {
    entry.head_bytes = head_bytes;
    entry.body_bytes = body_bytes;
    StoreBytes(&entry, sizeof entry, WordsAt(offset));
    StoreBytes("key", 3, WordsAt(offset) + sizeof entry / 8);
    SetSlot(0, Slot::Of(kHash, offset).value);
    return Find();
  };
  const auto room = static_cast<uint32_t>(1024 - sizeof entry - 8);
  EXPECT_EQ(find(0, room), FindResult::kHit);
  EXPECT_EQ(find(room, 0), FindResult::kHit);
  EXPECT_EQ(find(0, room + 1), FindResult::kRefused);
  EXPECT_EQ(find(room - 8, 9), FindResult::kRefused);
  EXPECT_EQ(find(UINT32_MAX, UINT32_MAX), FindResult::kRefused);
  EXPECT_EQ(find(UINT32_MAX, room), FindResult::kRefused);
}

TEST_F(HostileArenaTest, AnyWordsAreReadWithinTheMemory) {
  std::mt19937_64 random(1);
  std::array<uint64_t, 4> results{};
  SetSerials();
  for (int round = 0; round < 100'000; ++round) {
    // Places that are nearly right, with an entry that is nearly right.
    const uint64_t offset = random() % (kShape.bytes() / 16 + 4) * 16;
    for (size_t way = 0; way < kWays; ++way) SetSlot(way, 0);
    SetSlot(random() % kWays, random() % 8 == 0 ? random() : Slot::Of(kHash, offset).value);
    index_[kShape.generations_at() + random() % kShape.segments()] = random() % 8 == 0;
    EntryHead entry;
    entry.hash = random() % 16 == 0 ? random() : kHash;
    entry.key_bytes = random() % 8 == 0 ? static_cast<uint32_t>(random()) : 3;
    entry.head_bytes = static_cast<uint32_t>(random()) >> random() % 32;
    entry.body_bytes = static_cast<uint32_t>(random()) >> random() % 32;
    if (offset + sizeof entry + 8 <= kShape.bytes() &&
        offset % kShape.chunk_bytes() + sizeof entry + 8 <= kShape.chunk_bytes()) {
      StoreBytes(&entry, sizeof entry, WordsAt(offset));
      StoreBytes("key", 3, WordsAt(offset) + sizeof entry / 8);
    }
    const FindResult result = Find();
    ++results[static_cast<size_t>(result)];
    if (result == FindResult::kHit) {
      // The views can be read.
      volatile uint64_t sum = HashText(found_.head, 0) ^ HashText(found_.body, 0);
      (void)sum;
    }
  }
  // Each way was taken.
  EXPECT_GT(results[static_cast<size_t>(FindResult::kMiss)], 1'000u);
  EXPECT_GT(results[static_cast<size_t>(FindResult::kHit)], 1'000u);
  EXPECT_GT(results[static_cast<size_t>(FindResult::kRefused)], 1'000u);
}

TEST(CopyBufferTest, MemoryThatALargeEntryNeededIsGivenBack) {
  CopyBuffer buffer;
  uint8_t* const large = buffer.Reserve(1'000'000);
  EXPECT_EQ(buffer.Reserve(10), large);
  buffer.Trim(1'000'000);
  EXPECT_EQ(buffer.Reserve(10), large);
  buffer.Trim(1'000);
  EXPECT_NE(buffer.Reserve(10), nullptr);
}

}  // namespace
}  // namespace httpsys::cache
