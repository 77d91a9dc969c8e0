#include "sharing/port_succession.h"

#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {

using peer::FrameType;

PortSuccession::Victory PortSuccession::TakeVictory() { return std::exchange(victory_, {}); }

void PortSuccession::Expect(uint64_t now_ms) { silent_since_ms_ = now_ms; }

void PortSuccession::OnHeard(uint64_t now_ms) {
  End();
  silent_since_ms_ = now_ms;
}

void PortSuccession::End() {
  if (ping_ != 0) effects_->CloseLink(std::exchange(ping_, 0));
  is_doubting_ = false;
  silent_since_ms_ = look_at_ms_ = tell_at_ms_ = 0;
}

PortSuccession::Finding PortSuccession::Tick(const Member& member, uint64_t now_ms) {
  if (!is_doubting_) {
    if (!member.is_waiting) {
      silent_since_ms_ = 0;
      return Finding::kNothing;
    }
    if (silent_since_ms_ == 0) silent_since_ms_ = now_ms;
    if (now_ms - silent_since_ms_ < limits::kDoubtMs) return Finding::kNothing;
    is_doubting_ = true;
  }
  if (now_ms < look_at_ms_) return Finding::kNothing;
  look_at_ms_ = now_ms + limits::kDoubtLookMs;
  const uint32_t rank = ping_ != 0 ? pinged_rank_ : member.rank;
  if (effects_->IsSucceeded(rank)) return Finding::kElsewhere;
  if (member.may_succeed) {
    const Finding finding = Ask(member, now_ms);
    if (finding != Finding::kNothing || member.is_joined) return finding;
  }
  if (!member.is_waiting) {
    // The doubt came from another member. This member can do nothing about it, and must not pass it
    // on: the others would report it back.
    End();
    return Finding::kNothing;
  }
  if (now_ms < tell_at_ms_) return Finding::kNothing;
  tell_at_ms_ = now_ms + limits::kDoubtTellMs;
  return Finding::kUnable;
}

// Asks the coordinator over a new link, or succeeds it if it does not answer. A stopped coordinator
// finds the link when it runs again, and checks whether it was succeeded.
PortSuccession::Finding PortSuccession::Ask(const Member& member, uint64_t now_ms) {
  if (ping_ != 0) {
    // A joined member waits half as long, because it knows more of the port.
    const uint64_t silent_ms = (member.is_joined ? 1 : 2) * limits::kSilentMs;
    return now_ms - pinged_ms_ < silent_ms ? Finding::kNothing : Succeed(member);
  }
  const Visit visit = effects_->VisitMeeting();
  if (visit.result != Visit::Result::kLinked) {
    // The coordinator has ended, so its link to this member breaks soon; or its backlog is full.
    OnHeard(now_ms);
    return Finding::kNothing;
  }
  ping_ = visit.link;
  pinged_rank_ = visit.rank;
  pinged_ = visit.who;
  pinged_ms_ = now_ms;
  effects_->Send(ping_, FrameType::kPing, {});
  return Finding::kNothing;
}

// Returns true if another process now has the name of the coordinator that was asked.
bool PortSuccession::IsReplaced() {
  const Visit visit = effects_->VisitRank(pinged_rank_);
  if (visit.result != Visit::Result::kLinked) return false;
  effects_->CloseLink(visit.link);
  return visit.who.pid != pinged_.pid || visit.who.uid != pinged_.uid;
}

// Succeeds the coordinator. Not if frames of it are unread: then this engine may have been stopped.
PortSuccession::Finding PortSuccession::Succeed(const Member& member) {
  if (effects_->HasUnread(ping_) || effects_->HasUnread(member.link)) return Finding::kNothing;
  const int rank = IsReplaced() ? -ENOENT : effects_->TakeRankAbove(pinged_rank_);
  // The coordinator has another rank by now: the next Ask() finds it there.
  if (rank == -ENOENT) effects_->CloseLink(std::exchange(ping_, 0));
  if (rank < 0) return Finding::kNothing;
  victory_ = {static_cast<uint32_t>(rank), std::exchange(ping_, 0)};
  return Finding::kSucceeded;
}

PortSuccession::Finding PortSuccession::OnPing(const Member& member, const peer::Frame* frame,
                                               uint64_t now_ms) {
  peer::Pong pong;
  const bool is_answer =
      frame != nullptr && frame->type == FrameType::kPong && peer::Decode(frame->payload, &pong);
  // True if the answer comes from another coordinator than the one that this member has joined.
  const bool is_other = member.coordinator != 0 ? pong.coordinator != member.coordinator
                                                : pinged_rank_ != member.rank;
  OnHeard(now_ms);
  return is_answer && is_other ? Finding::kElsewhere : Finding::kNothing;
}

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
