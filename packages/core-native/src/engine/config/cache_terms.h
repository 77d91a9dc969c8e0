#pragma once
// The output cache's settings and counters for one server, as its lanes use them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counters.h"
#include "base/sorted_chunks.h"
#include "cache/refusal.h"
#include "cache/store_policy.h"

namespace httpsys::engine {

// The counters of one server. Thread: any.
class CacheCounters {
 public:
  void Add(CacheCounter counter) { Increment(&values_[static_cast<size_t>(counter)]); }
  void AddRefusal(cache::Refusal refusal) { Increment(&refusals_[static_cast<size_t>(refusal)]); }
  // Counts a miss and its reason, with one counter for both.
  void AddRefusedMiss(cache::Refusal refusal) {
    Increment(&refused_misses_[static_cast<size_t>(refusal)]);
  }
  uint64_t Read(CacheCounter counter) const {
    uint64_t value = values_[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
    if (counter != CacheCounter::kMisses) return value;
    for (const auto& refused : refused_misses_) value += refused.load(std::memory_order_relaxed);
    return value;
  }
  uint64_t ReadRefusal(size_t refusal) const {
    return refusals_[refusal].load(std::memory_order_relaxed) +
           refused_misses_[refusal].load(std::memory_order_relaxed);
  }

 private:
  static void Increment(std::atomic<uint64_t>* value) {
    value->fetch_add(1, std::memory_order_relaxed);
  }

  std::array<std::atomic<uint64_t>, static_cast<size_t>(CacheCounter::kCount)> values_{};
  std::array<std::atomic<uint64_t>, cache::kRefusals> refusals_{};
  std::array<std::atomic<uint64_t>, cache::kRefusals> refused_misses_{};
};

// One version of the cache settings of a server. Immutable, and shared by the lanes.
struct CacheTerms {
  cache::StoreOptions options;
  std::vector<std::string> harmless_fields;  // The argument of cache::ReadRequest().
  bool tells_status = false;                 // Answers have a Cache-Status field (RFC 9211).
  bool tells_reason = false;                 // The field also says why a response was not stored.
  // Time limit for JavaScript's answer to a request of the cache itself.
  uint32_t refresh_ms = 60'000;
  // Longest time that a request waits for the answer to another one with its key; 0 = none.
  uint32_t coalesce_ms = 5'000;
  std::shared_ptr<CacheCounters> counters;
  // KeyScope::port of a server without prefixes; 0 = none.
  uint32_t scope_of_everything = 0;
  struct PrefixScope {
    uint32_t prefix_id = 0;
    uint32_t scope = 0;
  };
  SortedChunks<PrefixScope, &PrefixScope::prefix_id> scopes;

  // Returns the scope of requests for a prefix; 0 = their responses are not cached.
  uint32_t ScopeOf(uint32_t prefix_id) const {
    const PrefixScope* const found = scopes.Find(prefix_id);
    return found == nullptr ? scope_of_everything : found->scope;
  }
};

}  // namespace httpsys::engine
