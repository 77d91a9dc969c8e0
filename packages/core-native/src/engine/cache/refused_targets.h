#pragma once
// Targets whose responses say again and again that they are not to be stored.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/refusal.h"
#include "engine/cache/process_cache.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// What a lane remembers of refused responses, so that a request for such a target costs next to
// nothing: it goes to JavaScript without a look-up, a key or a copy, and its response is not looked
// at. That never gives out anything wrong; it only puts off the moment at which a target whose
// responses have become storable is stored. Thread: the lane.
class RefusedTargets {
 public:
  // A target counts from so many refusals in a row on, so that one response, such as that to the
  // first visitor, decides nothing.
  static constexpr uint8_t kRefusalsMin = 8;
  static constexpr uint64_t kRememberedMs = 10'000;
  static constexpr size_t kTargetsMax = 4096;

  explicit RefusedTargets(const ProcessCache* cache) : cache_(cache) {}
  RefusedTargets(const RefusedTargets&) = delete;
  RefusedTargets& operator=(const RefusedTargets&) = delete;

  // True if no target can be known to be refused.
  bool empty() const { return targets_.empty(); }
  // A hash of what makes up the key of a GET request, or 0 if one of its lines may matter to the
  // cache by itself: such a request is looked up as usual. `head` is that of a request of HTTP/1.1
  // or HTTP/2 with this method. `place` is the same number for all requests for a prefix of a
  // server: its scope would have to be looked for.
  uint64_t HashOf(const http1::RequestHead& head, uint64_t place, bool is_secure) const;

  // Returns why responses of the target are refused, or kNone: the request is looked up. `hash` is
  // not 0. `now_ms` is the clock of the lane, here and below.
  cache::Refusal Find(uint64_t hash, uint64_t now_ms) const {
    if (targets_.empty()) return cache::Refusal::kNone;
    const Target& target = targets_[hash % kTargetsMax];
    const bool is_known = target.hash == hash && target.refusals >= kRefusalsMin &&
                          cache_->IsCurrent(target.mark) && now_ms < target.until_ms;
    return is_known ? target.refusal : cache::Refusal::kNone;
  }

  // No entry of the URL was found, and the response was refused, or not (kNone). `mark` is from
  // before the look-up.
  void OnResponse(uint64_t hash, ProcessCache::StoreMark mark, cache::Refusal refusal,
                  uint64_t now_ms);

 private:
  struct Target {
    uint64_t hash = 0;
    uint64_t until_ms = 0;
    ProcessCache::StoreMark mark;
    uint8_t refusals = 0;
    cache::Refusal refusal = cache::Refusal::kNone;
  };

  const ProcessCache* cache_;
  std::vector<Target> targets_;  // By hash; empty until something is remembered.
};

}  // namespace httpsys::engine
