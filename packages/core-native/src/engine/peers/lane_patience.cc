#include "engine/peers/lane_patience.h"

#include "base/limits.h"

namespace httpsys::engine {

void LanePatience::SetShared(bool is_shared) {
  is_shared_ = is_shared;
  Apply();
}

void LanePatience::OnBlocked(uint64_t now_ms) {
  tells_until_ms_ = now_ms + limits::kHasteMs;
  OnHaste(now_ms);
}

void LanePatience::OnHaste(uint64_t now_ms) {
  hasty_until_ms_ = now_ms + limits::kHasteMs;
  Apply();
}

void LanePatience::End() {
  hasty_until_ms_ = 0;
  Apply();
}

void LanePatience::Apply() {
  const bool is_patient = is_shared_ && hasty_until_ms_ == 0;
  if (is_patient == is_patient_) return;
  is_patient_ = is_patient;
  set_patient_(is_patient);
}

}  // namespace httpsys::engine
