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

  // Looks for the response to a request of a scope whose URL has this key. If the responses of the
  // URL vary, `key` becomes the key of the variant. With kHit, `found` is valid until the next
  // call. An entry that another owner of the URL has made obsolete is not found.
  cache::FindResult Find(const http1::RequestHead& head, uint32_t scope, std::string* key,
                         cache::FoundEntry* found);
  // False if Find() would find no entry of the URL that it was called with last, whatever is
  // stored: the counters of another owner are not known.
  bool may_find() const { return now_.is_known; }
  // The names of the fields that select the entry which was found last, if Find() has changed its
  // key. Valid until the next call.
  const cache::VaryNames& names() const { return memory_.record.names(); }
  // Looks for a variant of the entry that was found last, with its key.
  FoundCoding FindCoding(const std::string& key, const cache::EntryTerms& plain,
                         semantics::ContentCoding coding, cache::FoundEntry* found) {
    return FindCoded(*mapping_.reader, key, plain, coding, &memory_, found);
  }
  // Returns true if the entry was used before.
  bool WasUsed(const cache::FoundEntry& found) const {
    return mapping_.store->own_hits().Count(found.slot_at, found.slot) > 0;
  }
  // Counts a use of the entry that was found last, which has this place (FoundEntry).
  void NoteHit(uint32_t slot_at, cache::Slot slot) {
    mapping_.store->own_hits().Note(slot_at, slot);
  }
  // A hash of a key, the same for all lanes while the cache is not made anew.
  uint64_t Hash(std::string_view key) const;
  // Gives memory back that only large entries need. Returns true if what was found is gone with it.
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
  CoOwners::Generation now_;  // The generation of the URL that was looked for last.
  FindMemory memory_;
};

}  // namespace httpsys::engine
