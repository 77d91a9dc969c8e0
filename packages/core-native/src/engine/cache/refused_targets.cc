#include "engine/cache/refused_targets.h"

#include "base/ascii.h"
#include "base/seeded_hash.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;

// Whether the responses of a target are refused because of what they themselves say.
bool IsSaidByResponse(Refusal refusal) {
  return refusal == Refusal::kNoFreshness || refusal == Refusal::kNoPolicy ||
         refusal == Refusal::kNoStore || refusal == Refusal::kPrivate;
}

// A line that may be more than a field on which the response depends: directives, credentials,
// ranges, whatever changes the key or names another URL (cache/request_facts.cc). Told from the
// length and the first character, so that a few others count, too.
bool MayMatter(std::string_view name) {
  const char first = name.empty() ? '\0' : LowerCase(name.front());
  switch (first) {
    case 'a':  // authorization
    case 'c':  // cache-control
      return name.size() == 13;
    case 'f':  // forwarded, front-end-https
    case 'x':
      return true;
    case 'i':  // if-range
      return name.size() == 8;
    case 'p':  // proxy-authorization
      return name.size() == 19;
    case 'r':  // range
      return name.size() == 5;
    case 't':  // translate, transfer-encoding
      return name.size() == 9 || name.size() == 17;
    case 'u':  // upgrade
      return name.size() == 7;
    default:
      return false;
  }
}

}  // namespace

uint64_t RefusedTargets::HashOf(const http1::RequestHead& head, uint64_t place,
                                bool is_secure) const {
  const bool is_plain = head.body == http1::BodyKind::kNone && !head.upgrade &&
                        head.expect == http1::Expectation::kNone && head.has_host &&
                        !head.repeats_host;
  if (!is_plain) return 0;
  // Users who are known by a cookie often get `private` where all others get what may be stored:
  // the answers to some say nothing about those to the others.
  bool has_cookie = false;
  for (const auto& [name, value] : head.lines) {
    if (MayMatter(name)) return 0;
    has_cookie = has_cookie || EqualsIgnoringCase(name, "cookie");
  }
  // The highest bits of a place: no server has such a number.
  const uint64_t kind = uint64_t{has_cookie} << 63 | uint64_t{is_secure} << 62;
  return HashText(head.target, HashText(head.host, cache_->seed() ^ place ^ kind));
}

void RefusedTargets::OnResponse(uint64_t hash, ProcessCache::StoreMark mark, Refusal refusal,
                                uint64_t now_ms) {
  const bool is_refused = IsSaidByResponse(refusal);
  if (targets_.empty()) {
    if (!is_refused) return;
    targets_.resize(kTargetsMax);
  }
  Target& target = targets_[hash % kTargetsMax];
  if (!is_refused) {
    if (target.hash == hash) target = {};
    return;
  }
  const bool is_same = target.hash == hash;
  const auto before = is_same ? target.refusals : uint8_t{0};
  target.hash = hash;
  target.until_ms = now_ms + kRememberedMs;
  target.mark = mark;
  target.refusals = before < kRefusalsMin ? static_cast<uint8_t>(before + 1) : before;
  target.refusal = refusal;
}

}  // namespace httpsys::engine
