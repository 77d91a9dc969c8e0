#include "engine/peers/request_reclaim.h"

#include <algorithm>

#include "base/limits.h"
#include "engine/requests/exchanges.h"

namespace httpsys::engine {

using Fate = UnreadRequests::Fate;

RequestReclaim::RequestReclaim(uv_loop_t* loop, const Attachments* attachments, PortMoves* moves,
                               Input* input, UnbegunStreams* streams)
    : attachments_(attachments), moves_(moves), input_(input), streams_(streams) {
  uv_timer_init(loop, &timer_);
}

void RequestReclaim::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void RequestReclaim::Run() {
  bool has_movable = false;
  for (const auto& one : *attachments_) {
    if (!one->unread().has_movable()) continue;
    const uint64_t blocked_ms = one->BlockedMs(uv_hrtime() / 1'000'000);
    if (blocked_ms >= limits::kBlockedMs) TakeBack(one.get(), blocked_ms);
    has_movable |= one->unread().has_movable();
  }
  // The loop calls Run() after the timer.
  if (has_movable && uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) == 0)
    uv_timer_start(&timer_, [](uv_timer_t*) {}, limits::kReclaimLookMs, 0);
}

// Goes from the last request to the first: JavaScript comes from the other side, so that it has not
// begun any request behind one that the lane has claimed. So a connection's earlier request never
// comes to another owner before a later one that JavaScript has begun.
void RequestReclaim::TakeBack(Attachment* attachment, uint64_t blocked_ms) {
  attachment->unread().TakeMovable([&](const Item& item) {
    Connection* connection = attachment->slots().Find(item.slot);
    if (connection == nullptr || !CanTake(connection, blocked_ms)) return Fate::kStays;
    if (!attachment->claimed().Add(item.end, records::Claim::kMoved, attachment->requests()))
      return Fate::kStop;
    Take(connection, item);
    return Fate::kTaken;
  });
  for (Connection* connection : taken_) LookForOwner(connection);
  taken_.clear();
}

bool RequestReclaim::CanTake(const Connection* connection, uint64_t blocked_ms) const {
  // As OwnerChoice has it: the more often a request has moved, the longer it waits where it is.
  const int hops = std::min(connection->sharing.hops(), limits::kBlockedHopsMax);
  if (blocked_ms < limits::kBlockedMs << hops || !connection->is_open() ||
      connection->end.after_output() != AfterOutput::kNothing) {
    return false;
  }
  if (connection->stream != nullptr) return streams_->CanWithdraw(connection);
  // The member that relays several requests takes them back all or none.
  const bool is_returnable =
      connection->origin() == nullptr ||
      (connection->message.unanswered() == 1 && connection->output.is_empty());
  if (!is_returnable) return false;
  // In other phases JavaScript has been told more of the connection than its requests.
  return connection->phase() == InputPhase::kHead ||
         connection->phase() == InputPhase::kAfterClose ||
         connection->phase() == InputPhase::kAwaitUpgrade;
}

void RequestReclaim::Take(Connection* connection, const Item& item) {
  // PortRouter::CountRequest() has counted it; its next owner counts it, too.
  connection->server()->requests[item.prefix_id]->fetch_sub(1, std::memory_order_relaxed);
  if (connection->stream != nullptr) {
    streams_->Withdraw(connection);
  } else {
    Exchanges::ReadAgain(connection, item.bytes, 1);
    SocketWatch::Pause(connection, kPauseOrder);
  }
  if (std::find(taken_.begin(), taken_.end(), connection) == taken_.end())
    taken_.push_back(connection);
}

void RequestReclaim::LookForOwner(Connection* connection) {
  if (!connection->is_open()) return;
  if (connection->origin() == nullptr) return input_->Resume(connection, kPauseOrder);
  // The member that has the client finds another owner for what it relays.
  (void)moves_->Return(connection);
}

}  // namespace httpsys::engine
