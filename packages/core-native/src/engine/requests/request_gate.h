#pragma once
// The limit of a server's request queue.

#include "engine/connection/connection.h"
#include "engine/connection/pass_clock.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"

namespace httpsys::engine {

// Counts the requests that JavaScript was given and has not begun, and says when there are too
// many. QueueExpiry answers those that wait too long. Thread: the lane.
class RequestGate {
 public:
  RequestGate(const http1::MethodTable* methods, PassClock* clock)
      : head_method_(methods->Find("HEAD")), clock_(clock) {}
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  // True if the server has as many unbegun requests as its limit allows.
  static bool IsQueueFull(LaneServer* server);
  // Must be called when a request of this connection was given to JavaScript.
  void AddUnread(const Connection* connection, const http1::RequestHead& head);

 private:
  const int head_method_;
  PassClock* clock_;
};

}  // namespace httpsys::engine
