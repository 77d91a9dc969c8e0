#include "engine/cache/process_cache.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

#include "base/process.h"
#include "base/seeded_hash.h"
#include "cache/arena_layout.h"
#include "cache/cache_key.h"
#include "cache/coding_policy.h"

namespace httpsys::engine {
namespace {

using cache::ArenaShape;
using cache::VaryRecord;

// Responses that are being captured may use 1/kCapturePart of the cache's memory.
constexpr uint64_t kCapturePart = 8;
constexpr uint64_t kChunkBytes = uint64_t{cache::kSegmentBytes} * cache::kSegmentsPerChunk;

uint64_t RandomNumber() {
  std::random_device device;
  const uint64_t high = device();
  return high << 32 | device();
}

bool FindRecord(const cache::ArenaReader* reader, std::string_view key, cache::CopyBuffer* buffer,
                VaryRecord* record) {
  if (reader == nullptr) return false;
  cache::FoundEntry found;
  const cache::FindResult result = reader->Find(key, HashText(key, reader->seed()), buffer, &found);
  return result == cache::FindResult::kHit && found.entry.kind == cache::EntryKind::kVaryRecord &&
         record->Decode(found.body);
}

}  // namespace

ProcessCache::ProcessCache() : counter_seed_(RandomNumber()) {}

ProcessCache& ProcessCache::Instance() { return OfProcess<ProcessCache>(); }

uint64_t ProcessCache::WishedBytes() const {
  uint64_t most = 0;
  for (const auto& [user, wish] : wishes_) most = std::max(most, wish.bytes);
  return most == 0 ? kDefaultBytes : most;
}

uint64_t ProcessCache::Bytes() const {
  uint64_t bytes = WishedBytes();
  for (const auto& [port, limit] : limits_) bytes = std::min(bytes, limit);
  return bytes;
}

uint64_t ProcessCache::port_bytes() const {
  const std::scoped_lock lock(mutex_);
  uint64_t least = 0;
  for (const auto& [user, wish] : wishes_) {
    if (wish.port_bytes != 0 && (least == 0 || wish.port_bytes < least)) least = wish.port_bytes;
  }
  return least;
}

uint64_t ProcessCache::wished_bytes() const {
  const std::scoped_lock lock(mutex_);
  return WishedBytes();
}

void ProcessCache::Limit(const void* user, uint16_t port, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == UINT64_MAX) {
    limits_.erase({user, port});
  } else {
    limits_[{user, port}] = bytes;
  }
  ApplyBytes();
}

void ProcessCache::ForgetLimits(const void* user) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(limits_, [=](const auto& item) { return item.first.first == user; });
  ApplyBytes();
}

void ProcessCache::SetBytes(const void* user, uint64_t bytes, uint64_t port_bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0) {
    wishes_.erase(user);
  } else {
    wishes_[user] = {bytes, port_bytes};
  }
  ApplyBytes();
}

void ProcessCache::ApplyBytes() {
  const uint64_t bytes = Bytes();
  bytes_.store(bytes, std::memory_order_relaxed);
  is_suspended_ = bytes < kChunkBytes && bytes < WishedBytes();
  if (store_ == nullptr) return;
  // The index is sized for the wished memory, so a change of bounds never replaces it.
  if (ArenaShape::For(WishedBytes()).chunks_max > store_->arena().shape().chunks_max) {
    // Readers of other processes map the old memory until they get the new one: empty it.
    store_->Clear();
    store_ = nullptr;
    return MakeStore();
  }
  const auto chunks = std::max<uint64_t>(bytes / kChunkBytes, 1);
  store_->SetChunks(static_cast<uint32_t>(std::min<uint64_t>(chunks, cache::kChunksMax)));
  if (is_suspended_) store_->Clear();
  OnChanged();
}

void ProcessCache::MakeStore() {
  store_ = cache::CacheStore::Create(ArenaShape::For(WishedBytes()), RandomNumber());
  store_version_ = 0;
  // Start at a random number: epochs are secrets of this process.
  next_epoch_ = RandomNumber();
  if (store_ != nullptr) {
    for (const auto& [memory, hits] : hits_) store_->AddHits(&hits.table);
    const auto chunks = std::max<uint64_t>(Bytes() / kChunkBytes, 1);
    store_->SetChunks(static_cast<uint32_t>(std::min<uint64_t>(chunks, cache::kChunksMax)));
  }
  OnChanged();
}

// Informs the readers if chunks were added or removed.
void ProcessCache::OnChanged() {
  const uint64_t now = store_ == nullptr ? 0 : store_->version();
  if (now == store_version_) return;
  store_version_ = now;
  version_.fetch_add(1, std::memory_order_release);
  for (const auto& [user, changed] : watchers_) changed();
}

// -- Scopes.

uint32_t ProcessCache::Claim(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (store_ == nullptr) MakeStore();
  co_owners_.MakeCounters();
  Scope& scope = scopes_[name];
  if (scope.claims++ == 0) scope.number = next_scope_++;
  return scope.number;
}

void ProcessCache::Release(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = scopes_.find(name);
  if (found == scopes_.end() || --found->second.claims != 0) return;
  const uint32_t number = found->second.number;
  scopes_.erase(found);
  if (store_ == nullptr) return;
  if (scopes_.empty()) {
    store_->Clear();
    OnChanged();
  } else {
    DropScope(number);
  }
}

void ProcessCache::DropScope(uint32_t scope) {
  store_->DropIf([scope](std::string_view key, const cache::EntryHead&) {
    cache::KeyParts parts;
    return cache::SplitKey(key, &parts) && parts.scope.port == scope;
  });
}

// -- Reading.

void ProcessCache::Map(Mapping* mapping) {
  const std::scoped_lock lock(mutex_);
  MapNow(mapping);
}

void ProcessCache::MapNow(Mapping* mapping) const {
  *mapping = {};
  mapping->version = version_.load(std::memory_order_relaxed);
  if (store_ == nullptr) return;
  const cache::ArenaWriter& arena = store_->arena();
  mapping->store = store_;
  mapping->reader = cache::ArenaReader::Open(arena.index());
  if (mapping->reader == nullptr) return;
  for (uint32_t chunk = 0; chunk < arena.shape().chunks_max; ++chunk) {
    if (auto memory = arena.chunk(chunk); memory != nullptr) {
      (void)mapping->reader->SetChunk(chunk, arena.serial(chunk), std::move(memory));
    }
  }
}

// -- Other processes.

ProcessCache::Memory ProcessCache::Share() const {
  const std::scoped_lock lock(mutex_);
  Memory shared;
  if (store_ == nullptr) return shared;
  const cache::ArenaWriter& arena = store_->arena();
  shared.index = arena.index();
  shared.chunks.resize(arena.shape().chunks_max);
  for (uint32_t chunk = 0; chunk < arena.shape().chunks_max; ++chunk) {
    if (auto memory = arena.chunk(chunk); memory != nullptr) {
      shared.chunks[chunk] = {std::move(memory), arena.serial(chunk)};
    }
  }
  return shared;
}

void ProcessCache::Watch(const void* user, std::function<void()> changed) {
  const std::scoped_lock lock(mutex_);
  watchers_[user] = std::move(changed);
}

void ProcessCache::Unwatch(const void* user) {
  const std::scoped_lock lock(mutex_);
  watchers_.erase(user);
}

void ProcessCache::Announce() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [user, changed] : watchers_) changed();
}

void ProcessCache::AddHits(const std::shared_ptr<const cache::SharedMemory>& hits) {
  const std::scoped_lock lock(mutex_);
  const auto [added, is_new] =
      hits_.try_emplace(hits.get(), ForeignHits{hits, cache::HitTable::Over(*hits)});
  if (is_new && store_ != nullptr) store_->AddHits(&added->second.table);
}

void ProcessCache::RemoveHits(const std::shared_ptr<const cache::SharedMemory>& hits) {
  const std::scoped_lock lock(mutex_);
  const auto found = hits_.find(hits.get());
  if (found == hits_.end()) return;
  if (store_ != nullptr) store_->RemoveHits(&found->second.table);
  hits_.erase(found);
}

void ProcessCache::DropObsolete(uint32_t scope) {
  CoOwners::Snapshot snapshot;
  (void)DropIf([&](std::string_view key, const cache::EntryHead& entry, uint32_t) {
    cache::KeyParts parts;
    return cache::SplitKey(key, &parts) && parts.scope.port == scope &&
           entry.terms.generation != co_owners_.Of(&snapshot, scope, parts.target).value;
  });
}

// -- Writing.

size_t ProcessCache::CounterOf(std::string_view key) const {
  return HashText(key, counter_seed_) % kUrlCounters;
}

ProcessCache::Mark ProcessCache::MarkOf(std::string_view key) {
  Mark mark{invalidations_[CounterOf(key)].load(std::memory_order_acquire),
            flushes_.load(std::memory_order_acquire),
            {}};
  cache::KeyParts parts;
  CoOwners::Snapshot snapshot;
  if (cache::SplitKey(key, &parts)) {
    mark.generation = co_owners_.Of(&snapshot, parts.scope.port, parts.target);
  }
  return mark;
}

ProcessCache::StoreMark ProcessCache::StoresOf(std::string_view key) const {
  const size_t counter = CounterOf(key);
  return {static_cast<uint32_t>(counter), stores_[counter].load(std::memory_order_acquire)};
}

cache::Refusal ProcessCache::Store(const Response& response) {
  const std::scoped_lock lock(mutex_);
  if (store_ == nullptr || is_suspended_) return cache::Refusal::kTooLarge;
  const Mark& mark = response.mark;
  // While the counters of an owner are missing, it is unknown what that owner has invalidated.
  if (!mark.generation.is_known || MarkOf(response.parts.key) != mark) {
    return cache::Refusal::kObsolete;
  }
  has_stored_.store(true, std::memory_order_relaxed);
  cache::EntryParts parts = response.parts;
  parts.terms.stamp = ++next_stamp_;
  parts.terms.generation = mark.generation.value;
  bool is_stored = true;
  if (!response.vary->is_empty()) {
    key_.assign(parts.key);
    is_stored = NoteVariant(response);
    parts.key = key_;
  }
  is_stored = is_stored && store_->Store(parts);
  // Count the store last: a lane that sees the new number must find the entry.
  stores_[CounterOf(response.parts.key)].fetch_add(1, std::memory_order_release);
  OnChanged();
  return is_stored ? cache::Refusal::kNone : cache::Refusal::kTooLarge;
}

// If the response's Vary names fewer fields than the record, the response counts as a variant by
// all fields of the record. If it names further fields, the variant by the record's fields is
// replaced by a second record, under which the response is stored, so that all other variants stay.
bool ProcessCache::NoteVariant(const Response& response) {
  cache::VaryNames names = *response.vary;
  bool is_complete = false;  // The records so far name all fields of the response's Vary.
  for (size_t depth = 1; depth <= cache::kVaryDepthMax; ++depth) {
    const uint64_t version = version_.load(std::memory_order_relaxed);
    if (own_.store != store_ || own_.version != version) MapNow(&own_);
    VaryRecord record;
    const bool is_known = FindRecord(own_.reader.get(), key_, &buffer_, &record);
    if (!is_known && is_complete) return true;
    if (is_known) names.Add(record.names().text());
    is_complete = is_known && names.text() == record.names().text();
    const bool goes_on = is_known && depth < cache::kVaryDepthMax && !names.is_broken();
    if (!is_complete && !goes_on) {
      record = VaryRecord(names.is_broken() ? *response.vary : names, ++next_epoch_);
      is_complete = true;
    }
    cache::EntryParts parts;
    const std::string record_key = key_;
    record.MakeVariantKey(response.lines, &key_);
    const uint64_t oldest = record.Add(HashText(key_, store_->arena().seed()));
    if (oldest != 0) (void)store_->DropHash(oldest);
    std::array<char, VaryRecord::kBytesMax> memory;
    parts.key = record_key;
    parts.body = {memory.data(), record.Encode(memory)};
    parts.kind = cache::EntryKind::kVaryRecord;
    parts.terms.generation = response.mark.generation.value;
    parts.created_s = response.parts.created_s;
    if (!store_->Store(parts)) return false;
  }
  return true;
}

void ProcessCache::StoreCoded(const CodedResponse& response) {
  const std::scoped_lock lock(mutex_);
  if (store_ == nullptr || is_suspended_) return;
  const std::optional<cache::EntryHead> plain = store_->Look(response.plain_key);
  if (!plain.has_value() || !cache::IsVariantOf(response.plain->terms, plain->terms)) return;
  cache::EntryParts parts;
  key_.assign(response.plain_key);
  cache::MakeCodedKey(response.coding, &key_);
  parts.key = key_;
  parts.head = response.head;
  parts.body = response.body;
  parts.kind = cache::EntryKind::kCoded;
  parts.status = plain->status;
  parts.created_s = plain->created_s;
  parts.terms = plain->terms;
  (void)store_->Store(parts);
  OnChanged();
}

bool ProcessCache::Drop(std::string_view key) {
  const std::scoped_lock lock(mutex_);
  invalidations_[CounterOf(key)].fetch_add(1, std::memory_order_acq_rel);
  return store_ != nullptr && store_->Drop(key);
}

bool ProcessCache::Invalidate(std::string_view key) {
  cache::KeyParts parts;
  if (cache::SplitKey(key, &parts)) co_owners_.CountTarget(parts.target);
  return Drop(key);
}

size_t ProcessCache::DropIf(const Visit& visit) {
  std::shared_ptr<cache::CacheStore> walked;
  cache::CacheStore::Walk walk;
  const auto visit_entry = [&](std::string_view key, const cache::EntryHead& entry) {
    return visit(key, entry, walked->Hits(entry.hash));
  };
  for (;; std::this_thread::yield()) {
    const std::scoped_lock lock(mutex_);
    if (walked == nullptr) walked = store_;
    // A store that was replaced meanwhile has no earlier entries.
    if (walked == nullptr || walked != store_ || !walked->DropSomeIf(visit_entry, &walk)) break;
  }
  return walk.dropped;
}

cache::StoreCounts ProcessCache::counts() const {
  const std::scoped_lock lock(mutex_);
  return store_ == nullptr ? cache::StoreCounts() : store_->counts();
}

uint64_t ProcessCache::memory_bytes() const {
  const std::scoped_lock lock(mutex_);
  return store_ == nullptr ? 0 : store_->memory_bytes();
}

bool ProcessCache::TakeCaptureBytes(uint64_t bytes) {
  const uint64_t most = bytes_.load(std::memory_order_relaxed) / kCapturePart;
  if (captured_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most) return true;
  ReturnCaptureBytes(bytes);
  return false;
}

}  // namespace httpsys::engine
