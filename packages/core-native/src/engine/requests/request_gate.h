#pragma once
// The limits of a server's request queue.

#include <cstdint>

#include "engine/connection/attachments.h"
#include "engine/connection/connection.h"
#include "engine/connection/pass_clock.h"
#include "engine/requests/native_answer.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Counts the requests that JavaScript was given and has not begun, refuses new ones while there are
// too many, and answers those that wait too long. Thread: the lane.
class RequestGate {
 public:
  RequestGate(const http1::MethodTable* methods, const Attachments* attachments,
              NativeAnswers* answers, PassClock* clock)
      : head_method_(methods->Find("HEAD")),
        attachments_(attachments),
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
  void BeginPass() {
    for (const auto& one : *attachments_) Settle(one.get());
  }
  // Answers the requests that JavaScript has not begun in time, and makes JavaScript skip them.
  void RefuseOverdue(uint64_t now_ms) {
    for (const auto& one : *attachments_) {
      if (one->unread().HasOverdue(now_ms)) RefuseTaken(one.get(), now_ms);
    }
  }
  // Answers the requests that this JavaScript environment will never begin, because its thread is
  // ending.
  void RefuseAbandoned(Attachment* attachment);

 private:
  static void Settle(Attachment* attachment) {
    attachment->unread().Settle(attachment->requests().begun());
  }
  void RefuseTaken(Attachment* attachment, uint64_t now_ms);
  void RefuseUnread(Attachment* attachment, const UnreadRequests::Item& item, RouteStatus status);

  const int head_method_;
  const Attachments* attachments_;
  NativeAnswers* answers_;
  PassClock* clock_;
  AnswerWriter* connections_ = nullptr;
  AnswerWriter* streams_ = nullptr;
};

}  // namespace httpsys::engine
