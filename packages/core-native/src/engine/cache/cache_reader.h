#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache/arena_find.h"
#include "cache/vary.h"
#include "engine/cache/find_response.h"
#include "engine/cache/process_cache.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Finds entries of the process' cache for one lane, without a lock unless the memory of the cache
// has changed. Thread: the lane.
class CacheReader {
 public:
  explicit CacheReader(ProcessCache* cache) : cache_(cache) {}
  CacheReader(const CacheReader&) = delete;
  CacheReader& operator=(const CacheReader&) = delete;

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
