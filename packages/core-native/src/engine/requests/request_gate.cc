#include "engine/requests/request_gate.h"

namespace httpsys::engine {

bool RequestGate::IsQueueFull(LaneServer* server) {
  const uint32_t limit = server->config->settings().queue_limit;
  if (limit == 0 || server->queued->load(std::memory_order_relaxed) < limit) return false;
  Settle(server->attachment);
  return server->queued->load(std::memory_order_relaxed) >= limit;
}

void RequestGate::AddUnread(const Connection* connection, const http1::RequestHead& head) {
  const LaneServer* server = connection->server();
  UnreadRequests::Item item;
  item.end = server->attachment->requests().appended();
  item.counter = server->queued;
  item.slot = connection->slot.number();
  item.is_head = head.method == head_method_;
  item.is_first = connection->message.unanswered() == 1;
  const uint32_t timeout_ms = server->config->settings().queue_timeout_ms;
  // The time of a request that is behind others begins when those are answered.
  if (timeout_ms != 0 && item.is_first) item.deadline_ms = clock_->Ms() + timeout_ms;
  server->attachment->unread().Add(item);
}

// Implements the timer of HTTP.SYS for the request queue.
void RequestGate::RefuseTaken(Attachment* attachment, uint64_t now_ms) {
  Settle(attachment);
  for (const UnreadRequests::Item& item : attachment->unread().TakeOverdue(now_ms)) {
    RefuseUnread(attachment, item, RouteStatus::kQueueTimeout);
  }
}

void RequestGate::RefuseAbandoned(Attachment* attachment) {
  Settle(attachment);
  for (const UnreadRequests::Item& item : attachment->unread().All()) {
    if (item.is_first) RefuseUnread(attachment, item, RouteStatus::kOffline);
  }
}

void RequestGate::RefuseUnread(Attachment* attachment, const UnreadRequests::Item& item,
                               RouteStatus status) {
  Connection* connection = attachment->slots().Find(item.slot);
  const bool is_there = connection != nullptr && connection->is_open() &&
                        connection->end.after_output() == AfterOutput::kNothing;
  if (!is_there || connection->message.unanswered() == 0) return;
  // Only a server of prefixes has a queue whose owner can go offline. A server without prefixes
  // behaves as on Node.
  const bool has_queue = !connection->server()->config->settings().prefixes.empty();
  if (status == RouteStatus::kOffline && !has_queue) return;
  if (!attachment->refused().Claim(item.end, attachment->requests())) return;
  connection->server()->refused->fetch_add(1, std::memory_order_relaxed);
  NativeAnswers::Unserved request{status};
  request.is_head_request = item.is_head;
  request.closes = request.ends_input = true;
  (void)answers_->AnswerUnserved(connection->stream == nullptr ? connections_ : streams_,
                                 connection, request);
}

}  // namespace httpsys::engine
