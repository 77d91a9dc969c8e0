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
  return FindResponse(*mapping_.reader, head, key, &memory_, found);
}

}  // namespace httpsys::engine
