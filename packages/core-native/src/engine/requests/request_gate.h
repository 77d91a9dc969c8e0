#pragma once
// The limits of a server that keep a request from its JavaScript.

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/pass_clock.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Counts the requests that JavaScript was given and has not begun, and says when there are too
// many: more than its server allows are refused, more than the process has memory for are parked.
// QueueExpiry answers those that wait too long. Thread: the lane.
class RequestGate {
 public:
  RequestGate(const http1::MethodTable* methods, PassClock* clock)
      : head_method_(methods->Find("HEAD")), clock_(clock) {}
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  // Returns why the connection's server does not take a request for the prefix. kMatch: it does.
  static RouteStatus Admit(Connection* connection, std::string_view target, uint32_t prefix_id);
  // Returns kQueueFull if the connection's server has as many unbegun requests as its limit allows,
  // the reason if the request was parked and is refused now, otherwise kMatch.
  static RouteStatus AdmitToQueue(Connection* connection) {
    const auto* resumed = connection->attachment().waiting().ResumedOf(connection);
    if (resumed != nullptr) return resumed->refusal;
    return IsQueueFull(connection->server()) ? RouteStatus::kQueueFull : RouteStatus::kMatch;
  }
  // Returns true if JavaScript may not have the request yet, because it has not begun too many
  // others or because older ones wait: the request was parked, and the caller must keep its head
  // and pause the input with kPauseMemory.
  bool Parks(Connection* connection, const Route& route) {
    Attachment& attachment = connection->attachment();
    const bool is_overtaking =
        !attachment.waiting().empty() && attachment.waiting().ResumedOf(connection) == nullptr;
    if (!is_overtaking && !attachment.IsFull()) return false;
    Park(connection, route);
    return true;
  }
  // Returns kFlagClaimable if the lane may want the request back and needs the flag for that,
  // otherwise 0.
  static uint32_t ClaimFlag(const Connection* connection, const Route& route) {
    if (!connection->server()->attachment->claimed().needs_flag()) return 0;
    const bool has_deadline = connection->server()->config->settings().queue_timeout_ms != 0;
    return has_deadline || route.has_others ? uint32_t{records::kFlagClaimable} : 0;
  }
  // Must be called when a request of this connection was given to JavaScript. `bytes` are the whole
  // request as received, for another owner of the queue (Route::has_others); empty for a stream.
  void AddUnread(const Connection* connection, const http1::RequestHead& head, const Route& route,
                 std::string_view bytes);

 private:
  static bool IsQueueFull(LaneServer* server);
  void Park(Connection* connection, const Route& route);

  const int head_method_;
  PassClock* clock_;
};

}  // namespace httpsys::engine
