#include "engine/peers/request_reclaim.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/peers/owner_choice.h"
#include "engine/requests/exchanges.h"

namespace httpsys::engine {

using Fate = UnreadRequests::Fate;
namespace {

// Returns true if the next read would find the end of the connection's input.
bool HasEnded(const Connection* connection) {
  char byte;
  return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace

RequestReclaim::RequestReclaim(uv_loop_t* loop, const Attachments* attachments,
                               LanePatience* patience, PortRouter* router, Input* input,
                               UnbegunStreams* streams, Withdrawals* withdrawals)
    : attachments_(attachments),
      patience_(patience),
      router_(router),
      input_(input),
      streams_(streams),
      withdrawals_(withdrawals) {
  uv_timer_init(loop, &timer_);
}

void RequestReclaim::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void RequestReclaim::Run() {
  bool has_more = router_->waiting().has_waiting();
  bool is_blocked = false;
  uint64_t longest_ms = 0;
  const uint64_t now_ms = uv_hrtime() / 1'000'000;
  const bool is_news = now_ms != idle_at_ms_ || router_->waiting().has_due();
  bool has_moved = false;
  for (const auto& one : *attachments_) {
    const bool has_movable = one->unread().has_movable() || one->waiting().has_movable();
    if (!has_more && !has_movable) continue;
    const uint64_t blocked_ms = one->BlockedMs(uv_hrtime() / 1'000'000);
    longest_ms = std::max(longest_ms, blocked_ms);
    if (blocked_ms >= limits::kAsleepMs && IsBlocked(*one, blocked_ms)) {
      is_blocked = true;
      router_->choice().NoteBlocked(one.get());
      // Requests can move even if all request segments are full: finding an owner needs no segment.
      if (is_news && TakeBack(one.get(), blocked_ms)) has_moved = true;
      if (is_news && ResumeParked(one.get(), blocked_ms)) has_moved = true;
    }
    has_more |= has_movable;
  }
  if (is_blocked && is_news && !has_moved) idle_at_ms_ = now_ms;
  // Requests that waited because JavaScript seemed to be free soon must now look for other owners.
  if (is_blocked && !std::exchange(is_blocked_, is_blocked)) router_->waiting().Retry();
  is_blocked_ = is_blocked;
  if (!has_more || uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  // The timer only wakes the loop, which then calls Run(). It may be early by a millisecond or two.
  const uint64_t next_ms = longest_ms < limits::kAsleepMs ? limits::kAsleepMs : limits::kBusyMs;
  const uint64_t rest_ms = longest_ms < next_ms ? next_ms - longest_ms : next_ms;
  uv_timer_start(&timer_, [](uv_timer_t*) {}, rest_ms, 0);
  TakeSamples();
}

void RequestReclaim::Look() {
  for (const auto& one : *attachments_) {
    if (!one->unread().has_movable()) continue;
    const uint64_t now_ms = uv_hrtime() / 1'000'000;
    const bool is_restless = one->BlockedMs(now_ms) >= limits::kRestlessMs;
    // Ask at most once per ms, because IsRunnable() costs a few system calls.
    if (!is_restless || patience_->is_hasty() || looked_at_ms_ == now_ms) continue;
    looked_at_ms_ = now_ms;
    // On some systems nothing is known about other threads.
    if (one->thread().id != 0 && !IsRunnable(one->thread()))
      patience_->OnHaste(uv_now(timer_.loop));
  }
}

void RequestReclaim::TakeSamples() {
  for (const auto& one : *attachments_) {
    samples_[one.get()] = {uv_hrtime(), CpuNsOf(one->thread())};
  }
}

// A runnable thread that had a CPU for less than half of the time waits for a CPU, and is not
// blocked.
bool RequestReclaim::IsBlocked(const Attachment& attachment, uint64_t blocked_ms) {
  const bool is_busy = blocked_ms >= limits::kBusyMs;
  // On some systems nothing is known about other threads.
  if (attachment.thread().id == 0) return is_busy;
  if (blocked_ms >= limits::kStarvedMs || !IsRunnable(attachment.thread())) return true;
  if (!is_busy) return false;
  const Sample& sample = samples_[&attachment];
  const uint64_t used_ns = CpuNsOf(attachment.thread()) - sample.cpu_ns;
  return used_ns >= (uv_hrtime() - sample.at_ns) / 2;
}

// Takes requests from the last to the first. JavaScript begins at the first, so it has begun none
// behind a claimed one. Of a connection, no request before one that stays is taken. So no request
// goes to another owner while JavaScript answers a later one of the same connection.
bool RequestReclaim::TakeBack(Attachment* attachment, uint64_t blocked_ms) {
  size_t count = 0;
  attachment->unread().TakeMovable([&](const Item& item, std::string_view bytes) {
    if (count == limits::kReclaimedMax) return Fate::kStop;
    Connection* connection = attachment->slots().Find(item.slot);
    const bool may_move = item.is_movable && connection != nullptr &&
                          !staying_slots_.contains(item.slot) &&
                          CanTake(connection, item, blocked_ms);
    if (!may_move) {
      staying_slots_.insert(item.slot);
      return Fate::kStays;
    }
    if (!attachment->claimed().Add(item.end, records::Claim::kMoved, attachment->requests()))
      return Fate::kStop;
    Take(connection, item, bytes);
    ++count;
    return Fate::kTaken;
  });
  staying_slots_.clear();
  size_t moved = 0;
  for (Connection* connection : taken_) {
    connection->sharing.OnReclaimed();
    LookForOwner(connection);
    // Flush in portions: other members begin to work while the rest is prepared.
    if (++moved % limits::kReclaimedPerFlush == 0) router_->FlushPeers();
  }
  taken_.clear();
  return count != 0;
}

// Lets only requests that may move look for an owner: another request would lose its place in the
// queue, and the time that it has waited.
bool RequestReclaim::ResumeParked(Attachment* attachment, uint64_t blocked_ms) {
  if (!attachment->waiting().has_movable()) return false;
  // Requests relayed by another member stay, and so do requests behind unanswered ones.
  const auto may_move = [&](const Connection& connection, const MemoryQueue::Parked& parked) {
    return parked.has_others && connection.origin() == nullptr &&
           (connection.stream != nullptr ||
            (connection.message.unanswered() == 0 && connection.output.is_empty())) &&
           MayMove(&connection, parked.target_id, blocked_ms);
  };
  for (size_t count = 0; count < limits::kReclaimedMax; ++count) {
    Connection* next = attachment->waiting().NextParked(RouteStatus::kMatch, may_move);
    if (next == nullptr) return count != 0;
    input_->ResumeWaiting(attachment, next);
    if ((count + 1) % limits::kReclaimedPerFlush == 0) router_->FlushPeers();
    // No owner has taken the request: it has its place again.
    if (next->is_open() && next->input.waits_for_segment()) return count != 0;
  }
  return true;
}

bool RequestReclaim::MayMove(const Connection* connection, uint32_t target_id,
                             uint64_t blocked_ms) const {
  // The more often a request has moved, the longer it must wait here first.
  const int moves = OwnerChoice::MovesOf(connection);
  const int reclaims = connection->sharing.reclaims();
  return blocked_ms >= OwnerChoice::PatienceMs(std::max(moves, reclaims)) &&
         moves < limits::kBlockedHopsMax && reclaims < limits::kReclaimsMax &&
         router_->choice().HasFreePeer(connection->local_port, target_id);
}

bool RequestReclaim::CanTake(const Connection* connection, const Item& item,
                             uint64_t blocked_ms) const {
  if (!MayMove(connection, item.target_id, blocked_ms) || !connection->is_open() ||
      connection->end.after_output() != AfterOutput::kNothing) {
    return false;
  }
  if (connection->stream != nullptr) return streams_->CanWithdraw(connection);
  // A relaying member takes back all its requests or none, so only a single request can return.
  const bool is_returnable =
      connection->origin() == nullptr || (connection->message.unanswered() == 1 &&
                                          connection->output.is_empty() && !HasEnded(connection));
  if (!is_returnable) return false;
  // In other phases JavaScript knows more of the connection than its requests, such as body bytes.
  return connection->phase() == InputPhase::kHead ||
         connection->phase() == InputPhase::kAfterClose ||
         connection->phase() == InputPhase::kAwaitUpgrade;
}

void RequestReclaim::Take(Connection* connection, const Item& item, std::string_view bytes) {
  // Undoes PortRouter::CountRequest(): the next owner counts the request, too.
  PortStatistics::Change(connection->server()->requests[item.prefix_id], -1);
  withdrawals_->OnTakenBack(connection);
  if (connection->stream != nullptr) {
    streams_->Withdraw(connection);
  } else {
    Exchanges::ReadAgain(connection, bytes, 1);
    SocketWatch::Pause(connection, kPauseOrder);
  }
  if (std::find(taken_.begin(), taken_.end(), connection) == taken_.end())
    taken_.push_back(connection);
}

void RequestReclaim::LookForOwner(Connection* connection) {
  if (!connection->is_open()) return;
  if (connection->origin() == nullptr) return input_->Resume(connection, kPauseOrder);
  // The relaying member, which has the client, finds another owner.
  (void)router_->moves().Return(connection, true);
}

}  // namespace httpsys::engine
