#pragma once
// Targets whose responses say again and again that they are not to be stored.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/seeded_hash.h"
#include "cache/refusal.h"
#include "engine/cache/process_cache.h"
#include "http1/request_parser.h"

namespace httpsys::engine {
namespace refused_targets {

// The names that begin with one letter, told apart by their lengths: bit n is that of n bytes, and
// of n + 64. Thus a few others count, too.
struct Names {
  // A line that may be more than a field on which the response depends: directives, credentials,
  // ranges, whatever changes the key or names another URL (cache/request_facts.cc).
  uint64_t may_matter = 0;
  uint64_t may_be_cookie = 0;

  static constexpr uint64_t Bit(size_t bytes) { return uint64_t{1} << bytes % 64; }
};

inline constexpr std::array<Names, 26> kNamesByLetter = [] {
  std::array<Names, 26> names;
  names['a' - 'a'].may_matter = Names::Bit(13);  // authorization
  names['c' - 'a'].may_matter = Names::Bit(13);  // cache-control
  names['c' - 'a'].may_be_cookie = Names::Bit(6);
  names['f' - 'a'].may_matter = UINT64_MAX;                      // forwarded, front-end-https
  names['i' - 'a'].may_matter = Names::Bit(8);                   // if-range
  names['p' - 'a'].may_matter = Names::Bit(19);                  // proxy-authorization
  names['r' - 'a'].may_matter = Names::Bit(5);                   // range
  names['t' - 'a'].may_matter = Names::Bit(9) | Names::Bit(17);  // translate, transfer-encoding
  names['u' - 'a'].may_matter = Names::Bit(7);                   // upgrade
  names['x' - 'a'].may_matter = UINT64_MAX;
  return names;
}();

}  // namespace refused_targets

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
  uint64_t HashOf(const http1::RequestHead& head, uint64_t place, bool is_secure) const {
    const bool is_plain = head.body == http1::BodyKind::kNone && !head.upgrade &&
                          head.expect == http1::Expectation::kNone && head.has_host &&
                          !head.repeats_host;
    if (!is_plain) return 0;
    // Users who are known by a cookie often get `private` where all others get what may be stored:
    // the answers to some say nothing about those to the others.
    uint64_t has_cookie = 0;
    for (const auto& [name, value] : head.lines) {
      if (name.empty()) return 0;
      const uint32_t letter = (static_cast<unsigned char>(name.front()) | 0x20u) - 'a';
      if (letter >= refused_targets::kNamesByLetter.size()) continue;
      const refused_targets::Names& names = refused_targets::kNamesByLetter[letter];
      const uint64_t bit = refused_targets::Names::Bit(name.size());
      if ((names.may_matter & bit) != 0) return 0;
      has_cookie |= names.may_be_cookie & bit;
    }
    // The highest bits of a place: no server has such a number.
    const uint64_t kind = uint64_t{has_cookie != 0} << 63 | uint64_t{is_secure} << 62;
    return HashText(head.target, HashText(head.host, cache_->seed() ^ place ^ kind));
  }

  // Returns why responses of the target are refused, or kNone: the request is looked up. `hash` is
  // not 0. `now_ms` is the clock of the lane, here and below.
  cache::Refusal Find(uint64_t hash, uint64_t now_ms) const {
    if (empty()) return cache::Refusal::kNone;
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
