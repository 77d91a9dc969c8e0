#pragma once
// What stands between a lane and the queue of requests that JavaScript reads.

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

// Counts the requests that JavaScript was given and has not begun, keeps new ones out while there
// are too many, and answers those that wait too long. Thread: the lane.
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

  // Who writes the answers of connections and those of streams of HTTP/2.
  void set_writers(AnswerWriter* connections, AnswerWriter* streams) {
    connections_ = connections;
    streams_ = streams;
  }

  // True when the server does not keep up with what it was given.
  bool IsQueueFull(LaneServer* server);
  // A request of this connection has just been given to JavaScript.
  void AddUnread(const Connection* connection, const http1::RequestHead& head);
  // JavaScript has begun the request that ends there.
  void SettleUnread(uint64_t end) { unread_.Settle(end); }
  void BeginPass() { unread_.Settle(queue_->begun()); }
  // Answers requests that JavaScript has not begun in time.
  void RefuseOverdue(uint64_t now_ms) {
    if (unread_.HasOverdue(now_ms)) RefuseTaken(now_ms);
  }
  // Answers what JavaScript will never begin: its thread ends.
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
