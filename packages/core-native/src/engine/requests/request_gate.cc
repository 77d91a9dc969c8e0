#include "engine/requests/request_gate.h"

#include "base/limits.h"
#include "engine/connection/connection_limits.h"
#include "url/url_path.h"

namespace httpsys::engine {

RouteStatus RequestGate::Admit(Connection* connection, std::string_view target,
                               uint32_t prefix_id) {
  const ServerSettings& settings = connection->server()->config->settings();
  if (settings.max_url_bytes != 0 && target.size() > settings.max_url_bytes) {
    return RouteStatus::kLongUrl;
  }
  if (settings.strict_url && !IsStrictTarget(target)) return RouteStatus::kBadUrl;
  const bool may_ask = ConnectionLimits::MayAsk(connection, prefix_id);
  return may_ask ? RouteStatus::kMatch : RouteStatus::kTooManyConnections;
}

// True if the server has as many unbegun requests as its limit allows.
bool RequestGate::IsQueueFull(LaneServer* server) {
  const uint32_t limit = server->config->settings().queue_limit;
  if (limit == 0 || server->queued->load(std::memory_order_relaxed) < limit) return false;
  server->attachment->SettleUnread();
  return server->queued->load(std::memory_order_relaxed) >= limit;
}

void RequestGate::Park(Connection* connection, const Route& route) {
  const LaneServer* server = connection->server();
  MemoryQueue::Parked parked;
  parked.counter = server->queued;
  parked.now_ms = clock_->Ms();
  parked.timeout_ms = server->config->settings().queue_timeout;
  parked.target_id = route.target_id;
  parked.has_others = route.has_others;
  connection->attachment().waiting().Park(connection, parked);
}

void RequestGate::AddUnread(const Connection* connection, const http1::RequestHead& head,
                            const Route& route, std::string_view bytes) {
  const LaneServer* server = connection->server();
  UnreadRequests::Item item;
  item.end = server->attachment->requests().appended();
  item.counter = server->queued;
  item.slot = connection->slot.number();
  item.prefix_id = route.id;
  item.target_id = route.target_id;
  item.is_movable = route.has_others && bytes.size() <= limits::kMovableBytesMax;
  item.is_head = head.method == head_method_;
  item.is_first = connection->message.unanswered() == 1;
  const uint32_t timeout_ms = server->config->settings().queue_timeout;
  // A request behind unanswered requests of its connection has no deadline.
  if (timeout_ms != 0 && item.is_first) {
    const auto* resumed = connection->attachment().waiting().ResumedOf(connection);
    const uint64_t since_ms = resumed == nullptr ? clock_->Ms() : resumed->since_ms;
    item.deadline_ms = since_ms + timeout_ms;
  }
  if (item.is_movable) {
    server->attachment->unread().AddMovable(item, bytes);
  } else {
    server->attachment->unread().Add(item);
  }
}

}  // namespace httpsys::engine
