#include "sharing/port_descent.h"

#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {

void PortDescent::Begin(const PortSuccession::Victory& victory) {
  rank_ = victory.rank;
  watch_ = victory.watch;
  retry_at_ms_ = 0;
}

void PortDescent::End() {
  if (watch_ != 0) effects_->CloseLink(std::exchange(watch_, 0));
  rank_ = 0;
  effects_->LeaveMeeting();
}

void PortDescent::Tick(uint64_t now_ms) {
  if (is_descending() && now_ms >= retry_at_ms_) Descend(now_ms);
}

void PortDescent::OnBroken(uint64_t now_ms) {
  watch_ = 0;
  Descend(now_ms);
}

void PortDescent::Descend(uint64_t now_ms) {
  retry_at_ms_ = now_ms + limits::kDescentMs;
  // A lower rank is taken by a member that is stopped, too, or about to leave: watch its link.
  for (uint32_t rank = rank_; rank-- > 0;) {
    const Visit visit = effects_->VisitRank(rank);
    if (visit.result != Visit::Result::kLinked) continue;
    watch_ = visit.link;
    return;
  }
  for (uint32_t rank = 0; rank < rank_; ++rank) {
    if (effects_->TakeMeeting(rank) == 0) rank_ = rank;
  }
}

}  // namespace httpsys::sharing
