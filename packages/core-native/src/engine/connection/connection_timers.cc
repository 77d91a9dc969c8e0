#include "engine/connection/connection_timers.h"

#include <utility>

namespace httpsys::engine {

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

}  // namespace httpsys::engine
