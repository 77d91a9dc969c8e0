#include "cache/arena_writer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cache/word_copy.h"

namespace httpsys::cache {
namespace {

constexpr size_t kHeadWords = sizeof(EntryHead) / sizeof(uint64_t);

}  // namespace

EntryHead EntryParts::HeadFor(uint64_t hash) const {
  EntryHead entry;
  entry.key_bytes = static_cast<uint32_t>(key.size());
  entry.head_bytes = static_cast<uint32_t>(head.size());
  entry.body_bytes = static_cast<uint32_t>(body.size());
  entry.status = status;
  entry.kind = kind;
  entry.hash = hash;
  entry.created_s = created_s;
  entry.terms = terms;
  return entry;
}

ArenaWriter::ArenaWriter(const ArenaShape& shape, uint64_t seed,
                         std::shared_ptr<SharedMemory> index)
    : shape_(shape),
      seed_(seed),
      index_(std::move(index)),
      chunks_(shape.chunks_max),
      used_(shape.segments()) {}

std::unique_ptr<ArenaWriter> ArenaWriter::Create(const ArenaShape& shape, uint64_t seed) {
  HTTPSYS_CHECK(shape.is_valid());
  std::shared_ptr<SharedMemory> index = SharedMemory::Create(shape.index_bytes());
  if (index == nullptr) return nullptr;
  SharedWord* const words = index->words();
  for (uint32_t i = 0; i < shape.segments(); ++i) words[shape.generations_at() + i].store(1);
  words[ArenaShape::kSeedAt].store(seed);
  words[ArenaShape::kSegmentBytesAt].store(shape.segment_bytes);
  words[ArenaShape::kChunksAt].store(shape.chunks_max);
  words[ArenaShape::kBucketsAt].store(shape.buckets);
  words[ArenaShape::kMagicAt].store(kArenaMagic, std::memory_order_release);
  return std::unique_ptr<ArenaWriter>(new ArenaWriter(shape, seed, std::move(index)));
}

uint64_t ArenaWriter::serial(uint32_t chunk) const {
  return index_->words()[ArenaShape::kSerialsAt + chunk].load(std::memory_order_relaxed);
}

bool ArenaWriter::AddChunk(uint32_t chunk) {
  HTTPSYS_CHECK(chunks_[chunk] == nullptr);
  chunks_[chunk] = SharedMemory::Create(shape_.chunk_bytes());
  if (chunks_[chunk] == nullptr) return false;
  // A reader that sees an open segment of the chunk also sees this serial.
  index_->words()[ArenaShape::kSerialsAt + chunk].store(++last_serial_);
  return true;
}

void ArenaWriter::RemoveChunk(uint32_t chunk) {
  for (uint32_t i = 0; i < kSegmentsPerChunk; ++i) {
    HTTPSYS_CHECK(!is_open(chunk * kSegmentsPerChunk + i));
  }
  index_->words()[ArenaShape::kSerialsAt + chunk].store(0);
  chunks_[chunk].reset();
}

bool ArenaWriter::is_open(uint32_t segment) const {
  return generation(segment).load(std::memory_order_relaxed) % 2 == 0;
}

void ArenaWriter::OpenSegment(uint32_t segment) {
  HTTPSYS_CHECK(!is_open(segment) && chunks_[segment / kSegmentsPerChunk] != nullptr);
  used_[segment] = 0;
  // Makes the generation even, so that readers may read the segment. No slot of the index refers to
  // it yet, so they find nothing there until an entry is added.
  generation(segment).fetch_add(1, std::memory_order_release);
}

size_t ArenaWriter::RetireSegment(uint32_t segment) {
  if (!is_open(segment)) return 0;
  size_t found = 0;
  EntryHead entry;
  for (uint32_t position = 0; ReadEntry(segment, position, &entry);
       position += static_cast<uint32_t>(entry.total_bytes())) {
    const Place place = FindSlot(entry.hash, OffsetOf(segment, position));
    if (place.slot.is_empty()) continue;
    ClearSlot(place.slot_at);
    ++found;
  }
  generation(segment).fetch_add(1, std::memory_order_seq_cst);
  // A reader that sees any later store to the segment also sees the odd generation (arena_find.h).
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return found;
}

SharedWord* ArenaWriter::WordsAt(uint64_t offset) const {
  SharedMemory* const chunk = chunks_[SegmentOf(offset) / kSegmentsPerChunk].get();
  return chunk->words() + offset % shape_.chunk_bytes() / sizeof(uint64_t);
}

bool ArenaWriter::Fits(uint32_t segment, uint64_t bytes) const {
  HTTPSYS_CHECK(is_open(segment));
  return bytes <= shape_.segment_bytes - used_[segment];
}

std::optional<uint64_t> ArenaWriter::Append(uint32_t segment, uint64_t hash,
                                            const EntryParts& parts) {
  if (parts.key.size() > shape_.segment_bytes || parts.head.size() > shape_.segment_bytes ||
      parts.body.size() > shape_.segment_bytes) {
    return std::nullopt;
  }
  const EntryHead entry = parts.HeadFor(hash);
  if (!Fits(segment, entry.total_bytes())) return std::nullopt;
  const uint64_t offset = OffsetOf(segment, used_[segment]);
  SharedWord* to = WordsAt(offset);
  to += StoreBytes(&entry, sizeof entry, to);
  for (const std::string_view part : {parts.key, parts.head, parts.body}) {
    to += StoreBytes(part.data(), part.size(), to);
  }
  used_[segment] += static_cast<uint32_t>(entry.total_bytes());
  return offset;
}

std::optional<uint64_t> ArenaWriter::AppendCopy(uint32_t segment, uint64_t offset) {
  EntryHead entry;
  const auto position = static_cast<uint32_t>(offset % shape_.segment_bytes);
  if (!ReadEntry(SegmentOf(offset), position, &entry) || !Fits(segment, entry.total_bytes())) {
    return std::nullopt;
  }
  const uint64_t copy = OffsetOf(segment, used_[segment]);
  const size_t payload_words = static_cast<size_t>(entry.payload_bytes()) / sizeof(uint64_t);
  CopyWords(WordsAt(offset), kHeadWords + payload_words, WordsAt(copy));
  used_[segment] += static_cast<uint32_t>(entry.total_bytes());
  return copy;
}

ArenaWriter::Place ArenaWriter::SlotAt(uint64_t hash, uint32_t way) const {
  const auto at = static_cast<uint32_t>((hash & (shape_.buckets - 1)) * kWays + way);
  return {at, Slot{slot(at).load(std::memory_order_relaxed)}};
}

ArenaWriter::Place ArenaWriter::FindSlot(uint64_t hash) const {
  for (uint32_t way = 0; way < kWays; ++way) {
    const Place place = SlotAt(hash, way);
    if (place.slot.IsTagged(hash)) return place;
  }
  return {};
}

ArenaWriter::Place ArenaWriter::FindSlot(uint64_t hash, uint64_t offset) const {
  const Slot wanted = Slot::Of(hash, offset);
  for (uint32_t way = 0; way < kWays; ++way) {
    const Place place = SlotAt(hash, way);
    if (place.slot.value == wanted.value) return place;
  }
  return {};
}

void ArenaWriter::SetSlot(uint32_t slot_at, Slot value) {
  // Release: a reader that sees the slot also sees the stores of the entry.
  slot(slot_at).store(value.value, std::memory_order_release);
}

bool ArenaWriter::ReadEntry(uint32_t segment, uint32_t position, EntryHead* entry) const {
  if (used_[segment] - position < sizeof(EntryHead)) return false;
  uint8_t bytes[sizeof(EntryHead)];
  LoadWords(WordsAt(OffsetOf(segment, position)), kHeadWords, bytes);
  std::memcpy(entry, bytes, sizeof bytes);
  return entry->total_bytes() <= used_[segment] - position;
}

void ArenaWriter::ReadKey(uint64_t offset, const EntryHead& entry, char* key) const {
  const SharedWord* from = WordsAt(offset) + kHeadWords;
  for (size_t at = 0; at < entry.key_bytes; at += sizeof(uint64_t), ++from) {
    const uint64_t word = from->load(std::memory_order_relaxed);
    std::memcpy(key + at, &word, std::min<size_t>(sizeof word, entry.key_bytes - at));
  }
}

}  // namespace httpsys::cache
