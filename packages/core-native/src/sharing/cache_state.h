#pragma once
// What the output cache of one server has, or has forgotten: shown to people who ask for the state
// of a port.

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
