#include "engine/cache/cache_reader.h"

#include "base/seeded_hash.h"

namespace httpsys::engine {

using cache::FindResult;

void CacheReader::Refresh() {
  if (mapping_.version != cache_->version()) cache_->Map(&mapping_);
}

uint64_t CacheReader::Hash(std::string_view key) const {
  return HashText(key, mapping_.reader == nullptr ? 0 : mapping_.reader->seed());
}

FindResult CacheReader::Find(const http1::RequestHead& head, std::string* key,
                             cache::FoundEntry* found) {
  Refresh();
  if (mapping_.reader == nullptr) return FindResult::kMiss;
  const FindResult result = mapping_.reader->Find(*key, Hash(*key), &buffer_, found);
  if (result != FindResult::kHit || found->entry.kind == cache::EntryKind::kResponse) {
    return result;
  }
  if (!record_.Decode(found->body)) return FindResult::kRefused;
  record_.MakeVariantKey(head.lines, key);
  const FindResult variant = mapping_.reader->Find(*key, Hash(*key), &buffer_, found);
  const bool is_response = found->entry.kind == cache::EntryKind::kResponse;
  return variant == FindResult::kHit && !is_response ? FindResult::kRefused : variant;
}

}  // namespace httpsys::engine
