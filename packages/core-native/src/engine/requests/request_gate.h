#pragma once
// The limits of a server's request queue.

#include <cstdint>

#include "engine/connection/connection.h"
#include "engine/connection/pass_clock.h"
#include "engine/connection/transport.h"
#include "engine/requests/native_answer.h"
#include "engine/requests/refused_requests.h"
#include "engine/requests/unread_requests.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/request_queue.h"

namespace httpsys::engine {

// Counts the requests that JavaScript was given and has not begun, refuses new ones while there are
// too many, and answers those that wait too long. Thread: the lane.
class RequestGate {
 public:
  RequestGate(const http1::MethodTable* methods, RequestQueue* queue, Transport* transport,
              RefusedRequests* refused, NativeAnswers* answers, PassClock* clock)
      : head_method_(methods->Find("HEAD")),
        queue_(queue),
        transport_(transport),
        refused_(refused),
        answers_(answers),
        clock_(clock) {}
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  // Sets who writes the answers on connections and those on streams of HTTP/2.
  void set_writers(AnswerWriter* connections, AnswerWriter* streams) {
    connections_ = connections;
    streams_ = streams;
  }

  // True if the server has as many unbegun requests as its limit allows.
  bool IsQueueFull(LaneServer* server);
  // Must be called when a request of this connection was given to JavaScript.
  void AddUnread(const Connection* connection, const http1::RequestHead& head);
  // Must be called when JavaScript is known to have begun the request whose record ends at `end`.
  void SettleUnread(uint64_t end) { unread_.Settle(end); }
  void BeginPass() { unread_.Settle(queue_->begun()); }
  // Answers the requests that JavaScript has not begun in time, and makes JavaScript skip them.
  void RefuseOverdue(uint64_t now_ms) {
    if (unread_.HasOverdue(now_ms)) RefuseTaken(now_ms);
  }
  // Answers the requests that JavaScript will never begin, because its thread is ending.
  void RefuseAbandoned();

 private:
  void RefuseTaken(uint64_t now_ms);
  void RefuseUnread(const UnreadRequests::Item& item, RouteStatus status);

  const int head_method_;
  RequestQueue* queue_;
  Transport* transport_;
  RefusedRequests* refused_;
  NativeAnswers* answers_;
  PassClock* clock_;
  AnswerWriter* connections_ = nullptr;
  AnswerWriter* streams_ = nullptr;
  UnreadRequests unread_;
};

}  // namespace httpsys::engine
