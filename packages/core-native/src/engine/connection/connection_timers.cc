#include "engine/connection/connection_timers.h"

#include <algorithm>
#include <utility>

namespace httpsys::engine {

static_assert(limits::kTimerListsMax < TimerNode::kNoList);

size_t TimerLists::FindList(uint64_t duration_ms) {
  size_t unused = lists_.size();
  size_t shorter = 0;
  size_t shortest = 0;
  for (size_t i = 0; i < lists_.size(); ++i) {
    const List& list = lists_[i];
    if (list.duration_ms == duration_ms) return i;
    if (list.first == nullptr) unused = i;
    if (list.duration_ms < lists_[shortest].duration_ms) shortest = i;
    const bool is_closer =
        lists_[shorter].duration_ms > duration_ms || list.duration_ms > lists_[shorter].duration_ms;
    if (list.duration_ms < duration_ms && is_closer) shorter = i;
  }
  if (unused == lists_.size()) {
    if (lists_.size() == limits::kTimerListsMax) {
      return lists_[shorter].duration_ms < duration_ms ? shorter : shortest;
    }
    lists_.emplace_back();
  }
  lists_[unused].duration_ms = duration_ms;
  return unused;
}

bool TimerLists::Start(TimerNode* node, uint64_t now_ms, uint64_t duration_ms) {
  Stop(node);
  // Shortcut: most timers of a lane have the same duration as the timer started before.
  const bool is_like_newest = newest_ < lists_.size() && lists_[newest_].duration_ms == duration_ms;
  const size_t index = is_like_newest ? newest_ : FindList(duration_ms);
  newest_ = index;
  List& list = lists_[index];
  node->timer_list = static_cast<uint8_t>(index);
  node->deadline_ms = now_ms + list.duration_ms;
  node->timer_after = nullptr;
  node->timer_before = list.last;
  (list.last == nullptr ? list.first : list.last->timer_after) = node;
  list.last = node;
  return list.first == node;
}

void TimerLists::Stop(TimerNode* node) {
  if (!node->is_timer_running()) return;
  List& list = lists_[node->timer_list];
  (node->timer_before == nullptr ? list.first : node->timer_before->timer_after) =
      node->timer_after;
  (node->timer_after == nullptr ? list.last : node->timer_after->timer_before) = node->timer_before;
  node->timer_before = node->timer_after = nullptr;
  node->timer_list = TimerNode::kNoList;
}

TimerNode* TimerLists::TakeExpired(uint64_t now_ms) {
  for (const List& list : lists_) {
    if (list.first == nullptr || list.first->deadline_ms > now_ms) continue;
    TimerNode* node = list.first;
    Stop(node);
    return node;
  }
  return nullptr;
}

uint64_t TimerLists::NextDeadline() const {
  uint64_t earliest = UINT64_MAX;
  for (const List& list : lists_) {
    if (list.first != nullptr) earliest = std::min(earliest, list.first->deadline_ms);
  }
  return earliest;
}

ConnectionTimers::ConnectionTimers(uv_loop_t* loop, std::function<void(Connection*)> on_timeout)
    : loop_(loop), on_timeout_(std::move(on_timeout)) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void ConnectionTimers::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void ConnectionTimers::Start(Connection* connection, uint64_t timeout_ms) {
  if (lists_.Start(connection, uv_now(loop_), timeout_ms)) Arm();
}

void ConnectionTimers::Arm() {
  const uint64_t deadline = lists_.NextDeadline();
  // Firing early is harmless, so a later deadline does not move the timer.
  if (deadline >= deadline_ms_) return;
  deadline_ms_ = deadline;
  const uint64_t now = uv_now(loop_);
  uv_timer_start(&timer_, OnTimer, deadline > now ? deadline - now : 0, 0);
}

void ConnectionTimers::OnTimer(uv_timer_t* timer) {
  auto* self = static_cast<ConnectionTimers*>(timer->data);
  self->deadline_ms_ = UINT64_MAX;
  const uint64_t now = uv_now(self->loop_);
  while (TimerNode* node = self->lists_.TakeExpired(now)) {
    self->on_timeout_(static_cast<Connection*>(node));
  }
  self->Arm();
}

SlowClients::SlowClients(uv_loop_t* loop, ForEach for_each,
                         std::function<void(Connection*)> on_slow)
    : loop_(loop), for_each_(std::move(for_each)), on_slow_(std::move(on_slow)) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

void SlowClients::Close() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

void SlowClients::Watch(const Connection& connection) {
  const ServerSettings& settings = connection.server()->config->settings();
  if (settings.min_send_rate == 0) return;
  const uint64_t look_ms = std::max<uint64_t>(settings.send_rate_ms / SendRateWatch::kLooks, 1);
  const bool is_set = uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0;
  if (is_set && uv_timer_get_due_in(&timer_) <= look_ms) return;
  uv_timer_start(&timer_, OnTimer, look_ms, 0);
}

void SlowClients::OnTimer(uv_timer_t* timer) {
  auto* self = static_cast<SlowClients*>(timer->data);
  // Collect the slow connections first: closing a connection of HTTP/2 also closes its streams.
  std::vector<Connection*> slow;
  self->for_each_([&](Connection* connection) {
    if (!connection->is_open() || connection->output.queue() == nullptr || connection->fd < 0) {
      return;
    }
    if (self->IsTooSlow(connection)) {
      slow.push_back(connection);
    } else {
      self->Watch(*connection);
    }
  });
  for (Connection* connection : slow) {
    if (connection->is_open()) self->on_slow_(connection);
  }
}

bool SlowClients::IsTooSlow(Connection* connection) const {
  const ServerSettings& settings = connection->server()->config->settings();
  // HTTP's limits do not apply to an upgraded connection.
  const bool is_upgraded =
      IsTunnel(connection->phase()) || connection->phase() == InputPhase::kRelayOpaque;
  if (settings.min_send_rate == 0 || is_upgraded) return false;
  const bool was_throttled = Throttle::TakeHeld(connection);
  if (FileOutput::TakeHeld(connection) || was_throttled) {
    // Measure anew: the server, not the client, has been slow.
    OutputPass::RateOf(connection)->Restart();
    return false;
  }
  return OutputPass::RateOf(connection)
      ->IsTooSlow(uv_now(loop_), connection->output.queue()->removed(), settings.min_send_rate,
                  settings.send_rate_ms,
                  [&](Acknowledged* to) { return ReadAcknowledged(connection->fd, to); });
}

}  // namespace httpsys::engine
