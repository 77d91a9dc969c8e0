#pragma once
// A limit on how often a peer may do something that costs more than it brings.

#include <cstdint>

namespace httpsys {

// A token bucket. Thread: any, one at a time.
struct Allowance {
  uint32_t used = 0;
  uint64_t second = 0;

  // Counts one event. Returns false if there were too many: more than `most` at once, or more than
  // `per_second` in the long run.
  bool Take(uint64_t now_ms, uint32_t most, uint32_t per_second);
};

}  // namespace httpsys
