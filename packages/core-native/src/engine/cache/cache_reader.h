#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/seeded_hash.h"
#include "cache/arena_find.h"
#include "cache/arena_reader.h"
#include "cache/coding_policy.h"
#include "cache/vary.h"
#include "engine/cache/process_cache.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Reusable memory for look-ups of responses. Thread: any, one at a time.
struct FindMemory {
  cache::CopyBuffer buffer;
  cache::CopyBuffer coded;
  cache::VaryRecord record;
};

// Looks for the response to the request `head`. `key` is the key of its URL; if responses of the
// URL vary, it becomes the key of the variant. With kHit, `found` is valid until the memory's next
// use.
[[nodiscard]] inline cache::FindResult FindResponse(const cache::ArenaReader& reader,
                                                    const http1::RequestHead& head,
                                                    std::string* key, FindMemory* memory,
                                                    cache::FoundEntry* found) {
  using cache::EntryKind;
  using cache::FindResult;
  for (size_t depth = 0; depth <= cache::kVaryDepthMax; ++depth) {
    const FindResult result =
        reader.Find(*key, HashText(*key, reader.seed()), &memory->buffer, found);
    if (result != FindResult::kHit || found->entry.kind == EntryKind::kResponse) return result;
    if (found->entry.kind != EntryKind::kVaryRecord || !memory->record.Decode(found->body)) break;
    memory->record.MakeVariantKey(head.lines, key);
  }
  return FindResult::kRefused;
}

// Result of FindCoded().
enum class FoundCoding : uint8_t {
  kNone,     // No variant was made from this entry.
  kNoGain,   // The coding does not make the response smaller.
  kVariant,  // `found` is valid until the memory is used again.
};

// Looks for the variant in `coding` of the entry that has this key and the terms `plain`.
[[nodiscard]] inline FoundCoding FindCoded(const cache::ArenaReader& reader, std::string key,
                                           const cache::EntryTerms& plain,
                                           semantics::ContentCoding coding, FindMemory* memory,
                                           cache::FoundEntry* found) {
  cache::MakeCodedKey(coding, &key);
  const cache::FindResult result =
      reader.Find(key, HashText(key, reader.seed()), &memory->coded, found);
  const cache::EntryHead& entry = found->entry;
  if (result != cache::FindResult::kHit || entry.kind != cache::EntryKind::kCoded ||
      !cache::IsVariantOf(entry.terms, plain)) {
    return FoundCoding::kNone;
  }
  return found->body.empty() ? FoundCoding::kNoGain : FoundCoding::kVariant;
}

// Finds entries of the process' cache for one lane, without a lock unless the memory of the cache
// has changed. Thread: the lane.
class CacheReader {
 public:
  explicit CacheReader(ProcessCache* cache) : cache_(cache) {}
  CacheReader& operator=(CacheReader&&) = delete;

  // Looks for the stored response to the request `head` in a scope. `key` is the key of its URL; if
  // the responses of the URL vary, `key` becomes the key of the variant. With kHit, `found` is
  // valid until the next call. Entries that another owner has made obsolete are not found.
  cache::FindResult Find(const http1::RequestHead& head, uint32_t scope, std::string* key,
                         cache::FoundEntry* found);
  // False while the invalidation counters of another owner of the last Find()'s URL are unknown:
  // Find() then finds no entry of that URL, even if there is one.
  bool may_find() const { return now_.is_known; }
  // Names of the request fields that selected the entry of the last Find(). Valid until the next
  // call, and only if Find() has changed its key.
  const cache::VaryNames& names() const { return memory_.record.names(); }
  // Looks for the variant in `coding` of the last found entry, whose key is `key`.
  FoundCoding FindCoding(const std::string& key, const cache::EntryTerms& plain,
                         semantics::ContentCoding coding, cache::FoundEntry* found) {
    return FindCoded(*mapping_.reader, key, plain, coding, &memory_, found);
  }
  bool WasUsed(const cache::FoundEntry& found) const {
    return mapping_.store->own_hits().Count(found.slot_at, found.slot) > 0;
  }
  // Counts a use of the entry with these values of FoundEntry::slot_at and FoundEntry::slot.
  void NoteHit(uint32_t slot_at, cache::Slot slot) {
    mapping_.store->own_hits().Note(slot_at, slot);
  }
  // Returns the hash of a key: the same in all lanes until the store is replaced.
  uint64_t Hash(std::string_view key) const;
  // Frees copy buffers above kKeptBytesMax, which only large entries need. Returns true if this
  // invalidates the entry that was found last.
  bool Trim() {
    const bool was_trimmed = memory_.buffer.Trim(kKeptBytesMax);
    return memory_.coded.Trim(kKeptBytesMax) || was_trimmed;
  }

 private:
  static constexpr size_t kKeptBytesMax = 256 * 1024;

  void Refresh();

  ProcessCache* cache_;
  ProcessCache::Mapping mapping_;
  CoOwners::Snapshot owners_;
  CoOwners::Generation now_;  // The generation of the URL of the last Find().
  FindMemory memory_;
};

}  // namespace httpsys::engine
