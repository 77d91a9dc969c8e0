#pragma once
// The answer of a server's output cache to a peer::CacheQuery: entries, or the number flushed.

#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace httpsys::sharing {

struct CacheState {
  bool has_cache = false;
  std::vector<CacheEntry> entries;
  uint64_t flushed = 0;
};

}  // namespace httpsys::sharing
