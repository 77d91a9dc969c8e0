#include "engine/connection/slow_clients.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace httpsys::engine {

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
  // Closing a connection of HTTP/2 closes its streams, too.
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
    // The server, not the client, has been slow.
    OutputPass::RateOf(connection)->Restart();
    return false;
  }
  return OutputPass::RateOf(connection)
      ->IsTooSlow(uv_now(loop_), connection->output.queue()->removed(), settings.min_send_rate,
                  settings.send_rate_ms,
                  [&](Acknowledged* to) { return ReadAcknowledged(connection->fd, to); });
}

}  // namespace httpsys::engine
