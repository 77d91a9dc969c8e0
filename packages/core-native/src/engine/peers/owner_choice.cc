#include "engine/peers/owner_choice.h"

#include <utility>
#include <vector>

#include "engine/peers/port_admission.h"

namespace httpsys::engine {

OwnerChoice::OwnerChoice(uv_loop_t* loop, uint64_t self, const Attachments* attachments,
                         PortTable* table, LanePatience* patience, PeerLinks* links)
    : self_(self), attachments_(attachments), table_(table), patience_(patience), links_(links) {
  uv_timer_init(loop, &free_timer_);
  free_timer_.data = this;
}

void OwnerChoice::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&free_timer_), nullptr); }

const sharing::PortRoutes::Owner* OwnerChoice::Choose(Port* port, const Connection* connection,
                                                      uint32_t target_id, bool has_waited) {
  const auto& owners = port->routes->target(target_id).owners;
  is_lending_ = false;
  if (owners.size() == 1) return &owners[0];
  const auto own = std::find_if(owners.begin(), owners.end(), [&](const Routes::Owner& owner) {
    const bool is_its = connection == nullptr || !connection->slot.is_announced() ||
                        owner.server_id == connection->server()->id;
    return owner.member == 0 && is_its && !table_->IsOpening(owner);
  });
  const bool has_own = own != owners.end();
  const bool is_announced = connection != nullptr && connection->slot.is_announced();
  const bool is_new = connection == nullptr || (!is_announced && connection->sharing.hops() == 0);
  if (has_own && ((is_announced && own->is_plain) || (is_new && own->is_fed))) return &*own;
  const bool is_settled = has_own && connection != nullptr &&
                          (connection->slot.is_announced() || connection->sharing.hops() != 0);
  if (is_settled && !IsBusy()) return &*own;
  if (has_own && connection != nullptr && connection->origin() != nullptr) return &*own;
  if (is_settled && connection->sharing.hops() != 0) {
    // The connection was passed on to this member. It moves on only if this member is blocked for
    // longer than a request may wait here: the sender may have been blocked for a moment only.
    const uint64_t blocked_ms = BlockedMs();
    if (blocked_ms < limits::kBlockedMs) return &*own;
    const bool is_worse = blocked_ms >= PatienceMs(MovesOf(connection));
    if (!is_worse || MovesOf(connection) >= limits::kBlockedHopsMax)
      return has_waited ? &*own : nullptr;
  }
  if (is_settled && !MustLeave()) return has_waited ? &*own : nullptr;
  uint32_t& turn = port->turns[target_id];
  is_lending_ = is_settled;
  for (size_t i = 0; i < owners.size(); ++i) {
    const Routes::Owner& next = owners[++turn % owners.size()];
    if (table_->IsOpening(next)) continue;
    if (next.member != 0 ? !links_->IsBlocked(next.member) : !is_settled && !MustLeave())
      return &next;
    // This member is next in turn, but its JavaScript is blocked: it lends the connection to the
    // next free owner.
    if (next.member == 0) is_lending_ = true;
  }
  // All owners are blocked: prefer the owner here. Requests that JavaScript has not begun move when
  // another owner begins one.
  return has_own ? &*own : &owners[++turn % owners.size()];
}

// Chooses as Choose() does, but prefers this member, which has the stream's connection: no relay is
// needed here.
const sharing::PortRoutes::Owner* OwnerChoice::ChooseForStream(Port* port, uint32_t target_id,
                                                               bool has_waited) {
  const Routes::Target& target = port->routes->target(target_id);
  const auto& owners = target.owners;
  if (owners.size() == 1) return &owners[0];
  const Routes::Owner* own = OpenOwn(target);
  if (own != nullptr && (own->is_plain || !IsBusy())) return own;
  if (own != nullptr && !MustLeave()) return has_waited ? own : nullptr;
  uint32_t& turn = port->turns[target_id];
  for (size_t i = 0; i < owners.size(); ++i) {
    const Routes::Owner& next = owners[++turn % owners.size()];
    if (next.member == 0 || links_->IsBlocked(next.member)) continue;
    return links_->Prepare(next.member) == PeerLinks::State::kGone ? OtherOwner(target, next)
                                                                   : &next;
  }
  // All owners are blocked, as in Choose().
  return own != nullptr ? own : &owners[++turn % owners.size()];
}

const sharing::PortRoutes::Owner* OwnerChoice::OpenOwn(const Routes::Target& target) const {
  const auto found =
      std::find_if(target.owners.begin(), target.owners.end(), [this](const Routes::Owner& owner) {
        return owner.member == 0 && !table_->IsOpening(owner);
      });
  return found == target.owners.end() ? nullptr : &*found;
}

const sharing::PortRoutes::Owner* OwnerChoice::OtherOwner(const Routes::Target& target,
                                                          const Routes::Owner& dead) {
  const Routes::Owner* own = OpenOwn(target);
  if (own != nullptr && !IsBlocked()) return own;
  const Routes::Owner* blocked = nullptr;
  for (const Routes::Owner& owner : target.owners) {
    const bool is_there = owner.member != 0 && owner.member != dead.member &&
                          links_->Prepare(owner.member) != PeerLinks::State::kGone;
    if (!is_there) continue;
    if (!links_->IsBlocked(owner.member)) return &owner;
    blocked = &owner;
  }
  if (own != nullptr) return own;
  if (blocked != nullptr) return blocked;
  // The last resort is an owner here whose listen() has not called back: the request waits for it.
  return target.own() != nullptr ? target.own() : &dead;
}

const sharing::PortRoutes::Owner* OwnerChoice::GivesBackTo(const Connection* connection,
                                                           const Routes::Target& target,
                                                           bool has_more) {
  const auto [home, is_called_back] = lent_.find(connection)->second;
  if (!is_called_back || has_more || PortAdmission::IsPinned(connection) ||
      connection->message.unanswered() != 0 || !connection->output.is_empty() ||
      Relays::HasPending(connection)) {
    return nullptr;
  }
  for (const Routes::Owner& owner : target.owners) {
    if (owner.member != home || links_->IsBlocked(home)) continue;
    is_lending_ = false;
    return links_->Prepare(home) == PeerLinks::State::kReady ? &owner : nullptr;
  }
  return nullptr;
}

uint64_t OwnerChoice::HomeOf(const Connection* connection, uint64_t next) const {
  if (!is_lending_) return 0;
  const bool is_lent = connection != nullptr && connection->sharing.is_lent();
  const uint64_t home = is_lent ? lent_.find(connection)->second.home : self_;
  return home == next ? 0 : home;
}

void OwnerChoice::NoteBlocked(Attachment* attachment) {
  blocked_ = attachment;
  blocked_at_ = attachment->requests().begun();
  OnBlocked();
}

bool OwnerChoice::MustLeave() {
  if (!IsBlocked()) return false;
  OnBlocked();
  return true;
}

// Members that get requests from here learn that JavaScript is blocked. When this member has been
// free for a while, the timer informs the other members. Without that delay a member that is
// blocked again and again would send its connections to and fro.
void OwnerChoice::OnBlocked() {
  patience_->OnBlocked(uv_now(free_timer_.loop));
  links_->SetBlocked(true);
  is_told_blocked_ = true;
  blocked_at_ms_ = uv_hrtime() / 1'000'000;
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&free_timer_)) != 0) return;
  uv_timer_start(
      &free_timer_,
      [](uv_timer_t* timer) {
        auto* self = static_cast<OwnerChoice*>(timer->data);
        const uint64_t since_ms = uv_hrtime() / 1'000'000 - self->blocked_at_ms_;
        if (since_ms < limits::kUnblockedMs || self->IsBlocked()) return;
        uv_timer_stop(timer);
        if (std::exchange(self->has_lent_, false)) self->links_->TellFree();
      },
      limits::kUnblockedMs, limits::kUnblockedMs);
}

void OwnerChoice::BeginPass() {
  if (!HasBegun()) return;
  is_told_blocked_ = false;
  links_->SetBlocked(false);
}

bool OwnerChoice::HasFreePeer(uint16_t port, uint32_t target_id) const {
  const Port* found = table_->Find(port);
  // The routes may have changed since the request was given to JavaScript.
  if (found == nullptr || target_id >= found->routes->target_limit()) return false;
  const auto& owners = found->routes->target(target_id).owners;
  return std::any_of(owners.begin(), owners.end(), [this](const Routes::Owner& owner) {
    return owner.member != 0 && !links_->IsBlocked(owner.member) &&
           !links_->IsSilent(owner.member) && !links_->IsFull(owner.member);
  });
}

void OwnerChoice::OnFree(uint64_t member) {
  for (auto& [connection, lent] : lent_) {
    if (lent.home == member) lent.is_called_back = true;
  }
}

void OwnerChoice::OnPublishing() {
  if (table_->has_peers()) (void)BlockedMs();
}

uint64_t OwnerChoice::BlockedMs() {
  const uint64_t now_ms = uv_hrtime() / 1'000'000;
  uint64_t longest_ms = 0;
  for (const auto& one : *attachments_) {
    longest_ms = std::max(longest_ms, one->BlockedMs(now_ms));
    // A full queue counts as blocked: another owner gets the requests that would be parked here.
    if (one->IsFull()) longest_ms = std::max(longest_ms, limits::kBlockedMs);
  }
  // The block is over if JavaScript has begun a request, or has no unread record left to begin.
  const bool is_over = blocked_ != nullptr && (blocked_->requests().begun() != blocked_at_ ||
                                               !blocked_->requests().HasUnread());
  if (is_over) blocked_ = nullptr;
  return blocked_ != nullptr ? std::max(longest_ms, limits::kBlockedMs) : longest_ms;
}

}  // namespace httpsys::engine
