#include "engine/cache/cache_reader.h"

namespace httpsys::engine {

using cache::FindResult;

void CacheReader::Refresh() {
  if (mapping_.version != cache_->version()) cache_->Map(&mapping_);
}

uint64_t CacheReader::Hash(std::string_view key) const {
  return HashText(key, mapping_.reader == nullptr ? 0 : mapping_.reader->seed());
}

FindResult CacheReader::Find(const http1::RequestHead& head, uint32_t scope, std::string* key,
                             cache::FoundEntry* found) {
  Refresh();
  now_ = cache_->co_owners().Of(&owners_, scope, head.target);
  if (mapping_.reader == nullptr || !now_.is_known) return FindResult::kMiss;
  const FindResult result = FindResponse(*mapping_.reader, head, key, &memory_, found);
  const bool is_obsolete =
      result == FindResult::kHit && found->entry.terms.generation != now_.value;
  return is_obsolete ? FindResult::kMiss : result;
}

}  // namespace httpsys::engine
