#pragma once
// Ends the wait of requests in a server's queue.

#include <cstdint>

#include "engine/connection/attachment.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/withdrawals.h"

namespace httpsys::engine {

// Answers requests that JavaScript has not begun in time, or will never begin, and makes JavaScript
// skip them. The limit is HTTP.SYS' timer for the request queue. Thread: the lane.
class QueueExpiry {
 public:
  // `connections` and `streams` write the answers on connections of HTTP/1.1 and on streams of
  // HTTP/2.
  QueueExpiry(const Attachments* attachments, Input* input, NativeAnswers* answers,
              AnswerWriter* connections, AnswerWriter* streams, Withdrawals* withdrawals)
      : attachments_(attachments),
        input_(input),
        answers_(answers),
        connections_(connections),
        streams_(streams),
        withdrawals_(withdrawals) {}
  QueueExpiry(const QueueExpiry&) = delete;
  QueueExpiry& operator=(const QueueExpiry&) = delete;

  // Removes from the queues the requests that JavaScript has begun.
  void BeginPass() {
    for (const auto& one : *attachments_) one->SettleUnread();
  }
  // Answers the requests that JavaScript has not begun in time, and parked requests whose time is
  // over.
  void RefuseOverdue(uint64_t now_ms);
  // Answers the requests that this JavaScript environment will never begin, because its thread is
  // ending.
  void RefuseAbandoned(Attachment* attachment);

 private:
  void RefuseOverdue(Attachment* attachment, uint64_t now_ms);
  void RefuseUnread(Attachment* attachment, const UnreadRequests::Item& item, RouteStatus status);

  const Attachments* attachments_;
  Input* input_;
  NativeAnswers* answers_;
  AnswerWriter* connections_;
  AnswerWriter* streams_;
  Withdrawals* withdrawals_;
};

}  // namespace httpsys::engine
