#pragma once
// The prefixes of a server that is configured for the first time.

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace httpsys::test {

// Numbered from 0 on, and empty texts left out. An empty list stands for everything.
inline ServerPrefixes WholePrefixes(const std::vector<std::string>& texts) {
  ServerPrefixes prefixes;
  prefixes.is_everything = texts.empty();
  uint32_t id = 0;
  for (const std::string& text : texts) {
    if (!text.empty()) prefixes.changes.push_back({id, text});
    ++id;
  }
  return prefixes;
}

}  // namespace httpsys::test
