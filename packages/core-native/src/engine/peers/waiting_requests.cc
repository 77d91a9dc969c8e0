#include "engine/peers/waiting_requests.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace httpsys::engine {

WaitingRequests::WaitingRequests(uv_loop_t* loop, Input* input) : input_(input) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void WaitingRequests::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

RequestRouter::Outcome WaitingRequests::Wait(Connection* connection) {
  if (!connection->sharing.is_waiting()) AddWaiting(connection, 0);
  return Outcome::kLater;
}

void WaitingRequests::AddWaiting(Connection* connection, uint64_t due_ms) {
  const uint64_t since_ms = connection == retried_ ? retried_since_ms_ : uv_now(timer_.loop);
  places_[connection] = waiting_.insert(waiting_.end(), {connection, due_ms, since_ms});
  connection->sharing.SetWaiting(true);
  ArmTimer();
}

void WaitingRequests::WaitReturned(Connection* connection) {
  SocketWatch::Pause(connection, kPauseOrder);
  if (connection->sharing.is_waiting()) return;
  const int returns = std::max(connection->sharing.returns(), connection->sharing.hops());
  const uint64_t wait_ms = limits::kWaitingRetryMs << (returns / limits::kReturnsPerWait);
  AddWaiting(connection, uv_now(timer_.loop) + wait_ms);
}

void WaitingRequests::WaitUnbegun(Connection* connection) {
  SocketWatch::Pause(connection, kPauseOrder);
  if (connection->sharing.is_waiting()) return;
  AddWaiting(connection, 0);
  RetrySoon();
}

void WaitingRequests::RetryIf(uint64_t due_ms) {
  if (is_retrying_) return;
  has_due_ = false;
  if (waiting_.empty()) return;
  is_retrying_ = true;
  std::list<Waiting> due;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto one = next++;
    if (one->due_ms > due_ms) continue;
    one->connection->sharing.SetWaiting(false);
    places_.erase(one->connection);
    due.splice(due.end(), waiting_, one);
  }
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
  // Too early: OnTimer(), which runs while requests wait, retries all of them.
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
      limits::kWaitingRetryMs * (1 + waiting_.size() / limits::kWaitingPerRetry), 0);
}

void WaitingRequests::OnDetached(Connection* connection) {
  if (!connection->sharing.is_waiting()) return;
  const auto found = places_.find(connection);
  waiting_.erase(found->second);
  places_.erase(found);
  connection->sharing.SetWaiting(false);
}

}  // namespace httpsys::engine
