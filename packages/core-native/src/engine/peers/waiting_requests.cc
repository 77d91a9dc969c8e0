#include "engine/peers/waiting_requests.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "engine/connection/sharing_marks.h"

namespace httpsys::engine {

WaitingRequests::WaitingRequests(uv_loop_t* loop, Input* input, PortTable* table)
    : input_(input), table_(table) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void WaitingRequests::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

RequestRouter::Outcome WaitingRequests::Wait(Connection* connection, Route* route) {
  if (connection->sharing.is_waiting()) return Outcome::kWaiting;
  const auto* counts = CountsFor(connection, route->id);
  const bool is_counted = counts != nullptr && counts->contains(route->id);
  const bool is_full = is_counted && counts->at(route->id) >= limits::kWaitingMax;
  if (is_full || waiting_.size() >= limits::kWaitingAllMax) {
    route->status = RouteStatus::kQueueFull;
    return Outcome::kUnrouted;
  }
  AddWaiting(connection, route->id, 0);
  return Outcome::kWaiting;
}

std::unordered_map<uint32_t, uint32_t>* WaitingRequests::CountsFor(const Connection* connection,
                                                                   uint32_t target_id) {
  PortTable::Port* port = table_->Find(connection->local_port);
  return port == nullptr || target_id == kAnyTarget ? nullptr : &port->waiting;
}

void WaitingRequests::AddWaiting(Connection* connection, uint32_t target_id, uint64_t due_ms) {
  if (auto* counts = CountsFor(connection, target_id)) ++(*counts)[target_id];
  const uint64_t since_ms = connection == retried_ ? retried_since_ms_ : uv_now(timer_.loop);
  waiting_.push_back({connection, target_id, due_ms, since_ms});
  SharingMarks::SetWaiting(connection, true);
  ArmTimer();
}

void WaitingRequests::WaitReturned(Connection* connection) {
  SocketWatch::Pause(connection, kPauseOrder);
  if (connection->sharing.is_waiting()) return;
  const int returns = std::max(connection->sharing.returns(), connection->sharing.hops());
  const uint64_t wait_ms = limits::kWaitingRetryMs << (returns / limits::kReturnsPerWait);
  AddWaiting(connection, kAnyTarget, uv_now(timer_.loop) + wait_ms);
}

void WaitingRequests::WaitUnbegun(Connection* connection) {
  SocketWatch::Pause(connection, kPauseOrder);
  if (connection->sharing.is_waiting()) return;
  AddWaiting(connection, kAnyTarget, 0);
  RetrySoon();
}

void WaitingRequests::RetryIf(uint64_t due_ms) {
  if (is_retrying_) return;
  has_due_ = false;
  if (waiting_.empty()) return;
  is_retrying_ = true;
  const auto is_due = [=](const Waiting& one) { return one.due_ms <= due_ms; };
  const auto rest = std::stable_partition(waiting_.begin(), waiting_.end(), is_due);
  const std::vector<Waiting> due(waiting_.begin(), rest);
  waiting_.erase(waiting_.begin(), rest);
  // Requests that came back are not counted.
  table_->ClearWaiting();
  for (const Waiting& one : due) SharingMarks::SetWaiting(one.connection, false);
  // Resuming a connection may close that connection, but no other one.
  for (const Waiting& one : due) {
    if (!one.connection->is_open()) continue;
    retried_ = one.connection;
    retried_since_ms_ = one.since_ms;
    input_->Resume(one.connection, kPauseOrder);
  }
  retried_ = nullptr;
  is_retrying_ = false;
}

void WaitingRequests::OnRoutes() {
  if (waiting_.empty()) return;
  const uint64_t now_ms = uv_now(timer_.loop);
  // The timer runs while somebody waits.
  has_new_routes_ = now_ms < retried_ms_ + limits::kWaitingRetryMs;
  if (has_new_routes_) return;
  retried_ms_ = now_ms;
  RetryIf(UINT64_MAX);
}

void WaitingRequests::OnTimer() {
  if (std::exchange(has_new_routes_, false)) {
    retried_ms_ = uv_now(timer_.loop);
    RetryIf(UINT64_MAX);
  } else {
    Retry();
  }
  if (has_waiting()) ArmTimer();
}

void WaitingRequests::ArmTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<WaitingRequests*>(timer->data)->OnTimer(); },
      limits::kWaitingRetryMs, 0);
}

void WaitingRequests::OnDetached(Connection* connection) {
  if (!connection->sharing.is_waiting()) return;
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [=](const Waiting& one) { return one.connection == connection; });
  if (auto* counts = CountsFor(connection, found->target_id)) {
    const auto count = counts->find(found->target_id);
    // The port may have been given up and taken again since the request began to wait.
    if (count != counts->end() && --count->second == 0) counts->erase(count);
  }
  waiting_.erase(found);
  SharingMarks::SetWaiting(connection, false);
}

}  // namespace httpsys::engine
