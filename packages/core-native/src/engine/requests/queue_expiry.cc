#include "engine/requests/queue_expiry.h"

namespace httpsys::engine {
namespace {

// Returns true if the connection's server has prefixes: only then the owner of its queue can go
// offline. A server without prefixes behaves as on Node.
bool HasQueue(const Connection& connection) { return connection.server()->config->has_prefixes(); }

}  // namespace

void QueueExpiry::RefuseOverdue(uint64_t now_ms) {
  for (const auto& one : *attachments_) {
    if (one->unread().HasOverdue(now_ms)) RefuseOverdue(one.get(), now_ms);
    while (Connection* parked = one->waiting().NextOverdue(now_ms)) {
      input_->ResumeWaiting(one.get(), parked);
    }
  }
}

void QueueExpiry::RefuseOverdue(Attachment* attachment, uint64_t now_ms) {
  attachment->SettleUnread();
  for (const UnreadRequests::Item& item : attachment->unread().TakeOverdue(now_ms)) {
    RefuseUnread(attachment, item, RouteStatus::kQueueTimeout);
  }
}

void QueueExpiry::RefuseAbandoned(Attachment* attachment) {
  attachment->SettleUnread();
  for (const UnreadRequests::Item& item : attachment->unread().All()) {
    if (item.is_first) RefuseUnread(attachment, item, RouteStatus::kOffline);
  }
  const auto has_queue = [](const Connection& connection, const MemoryQueue::Parked& /*parked*/) {
    return HasQueue(connection);
  };
  while (Connection* parked = attachment->waiting().NextParked(RouteStatus::kOffline, has_queue)) {
    input_->ResumeWaiting(attachment, parked);
  }
}

void QueueExpiry::RefuseUnread(Attachment* attachment, const UnreadRequests::Item& item,
                               RouteStatus status) {
  Connection* connection = attachment->slots().Find(item.slot);
  const bool is_there = connection != nullptr && connection->is_open() &&
                        connection->end.after_output() == AfterOutput::kNothing;
  if (!is_there || connection->message.unanswered() == 0) return;
  if (status == RouteStatus::kOffline && !HasQueue(*connection)) return;
  if (!attachment->claimed().Add(item.end, records::Claim::kRefused, attachment->requests()))
    return;
  if (item.is_first) withdrawals_->OnRefused(connection);
  NativeAnswers::Unserved request{status};
  request.is_head_request = item.is_head;
  request.closes = request.was_queued = true;
  (void)answers_->AnswerUnserved(connection->stream == nullptr ? connections_ : streams_,
                                 connection, request);
}

}  // namespace httpsys::engine
