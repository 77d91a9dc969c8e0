#pragma once
// Targets whose responses are never stored, by their own headers.

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

// Sets of field names that begin with the same letter, by length: bit n stands for names of n bytes
// (and of n + 64). Other names of such a length match as well, which only costs a look-up.
struct Names {
  // Fields that the cache itself may have to read: directives, credentials, ranges, and fields that
  // change the key or name another URL (cache/request_facts.cc).
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

// Remembers for a lane the targets whose responses were refused. A request for such a target costs
// almost nothing: it goes to JavaScript without a look-up, a key or a copy, and its response is not
// examined. No client can get a wrong response by this: if responses of a target become storable,
// they are only stored later.
class RefusedTargets {
 public:
  // Number of refusals in a row after which requests for a target are not looked up. A single
  // response, such as the one to the first visitor, must not decide.
  static constexpr uint8_t kRefusalsMin = 8;
  static constexpr uint64_t kRememberedMs = 10'000;
  static constexpr size_t kTargetsMax = 4096;

  explicit RefusedTargets(const ProcessCache* cache) : cache_(cache) {}
  RefusedTargets& operator=(RefusedTargets&&) = delete;

  bool empty() const { return targets_.empty(); }
  // Returns a hash of all parts of a GET request's key, or 0 if the cache must read one of its
  // lines: such a request is looked up as usual. `head` is that of an HTTP/1.1 or HTTP/2 GET.
  // `place` stands for a server's prefix, because finding the prefix's scope would cost a search.
  uint64_t HashOf(const http1::RequestHead& head, uint64_t place, bool is_secure) const {
    const bool is_plain = !head.has_body() && !head.upgrade &&
                          head.expect == http1::Expectation::kNone && head.has_host &&
                          !head.repeats_host;
    if (!is_plain) return 0;
    // Hash requests with cookies separately: users with a cookie often get `private` responses
    // where all others get responses that may be stored.
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
    // `place` leaves its two highest bits unused, because no server id is that high.
    const uint64_t kind = uint64_t{has_cookie != 0} << 63 | uint64_t{is_secure} << 62;
    return HashText(head.target, HashText(head.host, cache_->seed() ^ place ^ kind));
  }

  // Returns why responses of the target are refused, or kNone: the request must be looked up.
  // `hash` is not 0. `now_ms` is the clock of the lane, here and below.
  cache::Refusal Find(uint64_t hash, uint64_t now_ms) const {
    if (empty()) return cache::Refusal::kNone;
    const Target& target = targets_[hash % kTargetsMax];
    const bool is_known = target.hash == hash && target.refusals >= kRefusalsMin &&
                          cache_->IsCurrent(target.mark) && now_ms < target.until_ms;
    return is_known ? target.refusal : cache::Refusal::kNone;
  }

  // Notes the response to a request for whose URL no entry was found. `refusal` says why the
  // response was refused; kNone = it was not. `mark` must be from before the look-up.
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
  std::vector<Target> targets_;  // Indexed by hash; empty until the first refusal.
};

}  // namespace httpsys::engine
