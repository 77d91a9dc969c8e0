#include "cache/cache_store.h"

#include <algorithm>
#include <utility>

#include "base/seeded_hash.h"

namespace httpsys::cache {
namespace {

// The small log, which gets new entries, has 1/kSmallPart of the memory.
constexpr uint64_t kSmallPart = 10;
// Number of hits from which an entry of the small log moves to the main log.
constexpr uint32_t kPromotingHits = 2;
// Maximum number of segments that one Store() empties while copying popular entries; the next
// segment is emptied without copies. Bounds the cost of a Store().
constexpr int kKeepingRoundsMax = 8;
// Number of free segments in reserve, for popular entries of a segment that is being emptied.
constexpr size_t kReserveSegments = 1;

}  // namespace

CacheStore::CacheStore(std::unique_ptr<ArenaWriter> arena)
    : arena_(std::move(arena)),
      logs_(arena_->shape().segments()),
      ghosts_(arena_->shape().slots()),
      own_cells_(std::make_unique<HitTable::Cell[]>(arena_->shape().slots())),
      own_hits_(own_cells_.get(), arena_->shape().slots()),
      hits_left_(arena_->shape().slots()),
      chunks_allowed_(arena_->shape().chunks_max) {}

std::unique_ptr<CacheStore> CacheStore::Create(const ArenaShape& shape, uint64_t seed) {
  std::unique_ptr<ArenaWriter> arena = ArenaWriter::Create(shape, seed);
  if (arena == nullptr) return nullptr;
  return std::unique_ptr<CacheStore>(new CacheStore(std::move(arena)));
}

uint32_t CacheStore::HitsOf(const ArenaWriter::Place& place) const {
  uint32_t hits = hits_left_[place.slot_at] + own_hits_.Count(place.slot_at, place.slot);
  for (const HitTable* other : other_hits_) hits += other->Count(place.slot_at, place.slot);
  return std::min(hits, HitTable::kCountMax);
}

uint32_t CacheStore::Hits(uint64_t hash) const {
  const ArenaWriter::Place place = arena_->FindSlot(hash);
  return place.slot.is_empty() ? 0 : HitsOf(place);
}

// Returns the slot of the entry's earlier version, or an empty slot of the bucket, or else the slot
// whose entry has the fewest hits.
ArenaWriter::Place CacheStore::PlaceFor(uint64_t hash) const {
  const ArenaWriter::Place same = arena_->FindSlot(hash);
  if (!same.slot.is_empty()) return same;
  ArenaWriter::Place fewest;
  uint32_t fewest_hits = UINT32_MAX;
  for (uint32_t way = 0; way < kWays; ++way) {
    const ArenaWriter::Place place = arena_->SlotAt(hash, way);
    if (place.slot.is_empty()) return place;
    const uint32_t hits = HitsOf(place);
    if (hits < fewest_hits) {
      fewest = place;
      fewest_hits = hits;
    }
  }
  return fewest;
}

void CacheStore::SetEntry(const ArenaWriter::Place& place, Slot slot, uint32_t hits) {
  if (place.slot.is_empty()) ++counts_.entries;
  hits_left_[place.slot_at] = static_cast<uint8_t>(hits);
  arena_->SetSlot(place.slot_at, slot);
}

void CacheStore::Forget(const ArenaWriter::Place& place) {
  arena_->ClearSlot(place.slot_at);
  --counts_.entries;
}

bool CacheStore::Store(const EntryParts& parts) {
  const uint64_t hash = HashText(parts.key, arena_->seed());
  if (parts.HeadFor(hash).total_bytes() > arena_->shape().segment_bytes / 2) return false;
  const ArenaWriter::Place before = arena_->FindSlot(hash);
  // A new version of an entry stays in the entry's log: a popular one goes to the main log.
  const bool is_popular = before.slot.is_empty()
                              ? ghosts_.Take(hash, static_cast<uint32_t>(counts_.entries))
                              : logs_.IsInMain(SegmentOf(before.slot));
  const uint32_t hits = before.slot.is_empty() ? 0 : HitsOf(before);
  const std::optional<uint64_t> offset = Append(is_popular ? Log::kMain : Log::kSmall, hash, parts);
  if (!offset.has_value()) return false;
  // Look again: Append() may have removed the earlier version to make room.
  const ArenaWriter::Place place = PlaceFor(hash);
  if (!place.slot.is_empty() && !place.slot.IsTagged(hash)) ++counts_.evicted;
  SetEntry(place, Slot::Of(hash, *offset), hits);
  ++counts_.stored;
  return true;
}

std::optional<uint64_t> CacheStore::Append(Log log, uint64_t hash, const EntryParts& parts) {
  for (int round = 0;; ++round) {
    if (!logs_.Of(log).empty()) {
      const std::optional<uint64_t> offset = arena_->Append(logs_.Of(log).back(), hash, parts);
      if (offset.has_value()) return offset;
    }
    if (logs_.free_count() > kReserveSegments || AddChunk()) {
      Extend(log);
    } else if (!FreeSegment(round >= kKeepingRoundsMax)) {
      return std::nullopt;
    }
  }
}

void CacheStore::Extend(Log log) { arena_->OpenSegment(logs_.Extend(log)); }

bool CacheStore::AddChunk() {
  if (chunks_ >= chunks_allowed_) return false;
  uint32_t chunk = 0;
  while (arena_->chunk(chunk) != nullptr) ++chunk;
  if (!arena_->AddChunk(chunk)) return false;
  for (uint32_t i = 0; i < kSegmentsPerChunk; ++i) logs_.AddFree(chunk * kSegmentsPerChunk + i);
  ++chunks_;
  ++version_;
  return true;
}

void CacheStore::RemoveChunk(uint32_t chunk) {
  for (uint32_t i = 0; i < kSegmentsPerChunk; ++i) {
    const uint32_t segment = chunk * kSegmentsPerChunk + i;
    logs_.Remove(segment);
    counts_.entries -= arena_->RetireSegment(segment);
  }
  arena_->RemoveChunk(chunk);
  --chunks_;
  ++version_;
}

uint64_t CacheStore::SmallBytes() const {
  uint64_t bytes = 0;
  for (const uint32_t segment : logs_.Of(Log::kSmall)) bytes += arena_->used_bytes(segment);
  return bytes;
}

// Empties the oldest segment: of the small log if that has its share of the memory, otherwise of
// the main log. Returns false if neither log has a segment.
bool CacheStore::FreeSegment(bool keeps_nothing) {
  const bool has_small = !logs_.Of(Log::kSmall).empty();
  const bool has_main = !logs_.Of(Log::kMain).empty();
  if (!has_small && !has_main) return false;
  const bool is_small_full = SmallBytes() * kSmallPart >= memory_bytes();
  const Log log = has_small && (is_small_full || !has_main) ? Log::kSmall : Log::kMain;
  Empty(log, logs_.Of(log).front(), keeps_nothing);
  return true;
}

void CacheStore::Empty(Log log, uint32_t segment, bool keeps_nothing) {
  // Remove the segment from its log first, so that no entry is copied into it.
  logs_.Remove(segment);
  EntryHead entry;
  for (uint32_t position = 0; arena_->ReadEntry(segment, position, &entry);
       position += static_cast<uint32_t>(entry.total_bytes())) {
    const uint64_t offset = arena_->OffsetOf(segment, position);
    const ArenaWriter::Place place = arena_->FindSlot(entry.hash, offset);
    if (place.slot.is_empty()) continue;
    const uint32_t hits = HitsOf(place);
    const bool is_kept = hits >= (log == Log::kSmall ? kPromotingHits : 1) && !keeps_nothing;
    if (is_kept && Keep(offset, place, entry.hash, log == Log::kSmall ? 0 : hits - 1)) {
      ++counts_.copied;
    } else if (log == Log::kSmall) {
      ghosts_.Add(entry.hash);
    }
  }
  const size_t left = arena_->RetireSegment(segment);
  counts_.evicted += left;
  counts_.entries -= left;
  logs_.AddFree(segment);
}

// Copies an entry to the end of the main log. Returns false if there is no room.
bool CacheStore::Keep(uint64_t offset, const ArenaWriter::Place& place, uint64_t hash,
                      uint32_t hits) {
  std::optional<uint64_t> copy;
  if (!logs_.Of(Log::kMain).empty()) {
    copy = arena_->AppendCopy(logs_.Of(Log::kMain).back(), offset);
  }
  if (!copy.has_value() && logs_.free_count() > 0) {
    Extend(Log::kMain);
    copy = arena_->AppendCopy(logs_.Of(Log::kMain).back(), offset);
  }
  if (!copy.has_value()) return false;
  SetEntry(place, Slot::Of(hash, *copy), hits);
  return true;
}

std::optional<EntryHead> CacheStore::Look(std::string_view key) const {
  const uint64_t hash = HashText(key, arena_->seed());
  const ArenaWriter::Place place = arena_->FindSlot(hash);
  if (place.slot.is_empty()) return std::nullopt;
  const uint32_t segment = SegmentOf(place.slot);
  const auto position = static_cast<uint32_t>(place.slot.offset() % arena_->shape().segment_bytes);
  EntryHead entry;
  if (!arena_->ReadEntry(segment, position, &entry) || entry.hash != hash) return std::nullopt;
  return entry;
}

bool CacheStore::Drop(std::string_view key) { return DropHash(HashText(key, arena_->seed())); }

bool CacheStore::DropHash(uint64_t hash) {
  const ArenaWriter::Place place = arena_->FindSlot(hash);
  if (place.slot.is_empty()) return false;
  Forget(place);
  return true;
}

size_t CacheStore::DropIf(const Visit& visit) {
  Walk walk;
  while (DropSomeIf(visit, &walk)) {
  }
  return walk.dropped;
}

// Visits the last segments of both logs in one final step: only they receive new and moved entries.
bool CacheStore::DropSomeIf(const Visit& visit, Walk* walk) {
  walk->visited.resize(arena_->shape().segments());
  for (const Log log : {Log::kSmall, Log::kMain}) {
    for (const uint32_t segment : logs_.Of(log)) {
      if (segment == logs_.Of(log).back()) break;
      const uint64_t now = arena_->segment_generation(segment) + 1;
      if (walk->visited[segment] == now) continue;
      walk->visited[segment] = now;
      walk->dropped += DropOfSegment(segment, visit);
      return true;
    }
  }
  for (const Log log : {Log::kSmall, Log::kMain}) {
    if (!logs_.Of(log).empty()) walk->dropped += DropOfSegment(logs_.Of(log).back(), visit);
  }
  return false;
}

size_t CacheStore::DropOfSegment(uint32_t segment, const Visit& visit) {
  size_t dropped = 0;
  EntryHead entry;
  for (uint32_t position = 0; arena_->ReadEntry(segment, position, &entry);
       position += static_cast<uint32_t>(entry.total_bytes())) {
    const uint64_t offset = arena_->OffsetOf(segment, position);
    const ArenaWriter::Place place = arena_->FindSlot(entry.hash, offset);
    if (place.slot.is_empty()) continue;
    key_.resize(entry.key_bytes);
    arena_->ReadKey(offset, entry, key_.data());
    if (!visit(key_, entry)) continue;
    Forget(place);
    ++dropped;
  }
  return dropped;
}

void CacheStore::SetChunks(uint32_t chunks) {
  chunks_allowed_ = std::clamp<uint32_t>(chunks, 1, arena_->shape().chunks_max);
  for (uint32_t chunk = arena_->shape().chunks_max; chunk-- > 0 && chunks_ > chunks_allowed_;) {
    if (arena_->chunk(chunk) != nullptr) RemoveChunk(chunk);
  }
}

void CacheStore::Clear() {
  for (uint32_t chunk = 0; chunk < arena_->shape().chunks_max; ++chunk) {
    if (arena_->chunk(chunk) != nullptr) RemoveChunk(chunk);
  }
}

}  // namespace httpsys::cache
