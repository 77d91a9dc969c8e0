#pragma once
// Limits how often a client may do things that cost the server more than they are worth.

#include <cstdint>

namespace httpsys {

// A token bucket. Thread: any, one at a time.
struct Allowance {
  uint32_t used = 0;
  uint64_t second = 0;

  // Counts one event. Returns false beyond `most` at once, or `per_second` on average.
  bool Take(uint64_t now_ms, uint32_t most, uint32_t per_second);
};

}  // namespace httpsys
