#pragma once
// The answer of one server's output cache to a query (peer::CacheQuery): its entries, or the number
// that was flushed.

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
