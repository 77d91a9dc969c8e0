#include "engine/cache/refused_targets.h"

namespace httpsys::engine {
namespace {

using cache::Refusal;

// True if a response is refused because of its own header, not because of its request.
bool IsSaidByResponse(Refusal refusal) {
  return refusal == Refusal::kNoFreshness || refusal == Refusal::kNoPolicy ||
         refusal == Refusal::kNoStore || refusal == Refusal::kPrivate;
}

}  // namespace

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
