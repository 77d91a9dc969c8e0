#pragma once
// Applies the limits of a server before a request goes to its JavaScript.

#include <cstdint>
#include <string_view>

#include "engine/connection/connection.h"
#include "engine/connection/connection_timers.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "records/records.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Counts the requests that JavaScript has received but not begun. Further requests are refused if
// they are more than the server allows, and parked if they need more memory than the process
// allows. QueueExpiry answers requests that wait too long. Thread: the lane.
class RequestGate {
 public:
  RequestGate(const http1::MethodTable* methods, PassClock* clock)
      : head_method_(methods->Find("HEAD")), clock_(clock) {}
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  // Returns why the connection's server refuses a request for the prefix; kMatch = it does not.
  static RouteStatus Admit(Connection* connection, std::string_view target, uint32_t prefix_id);
  // Returns kQueueFull if the connection's server has as many unbegun requests as its limit allows.
  // For a request that was parked, returns the reason to refuse it now. Otherwise returns kMatch.
  static RouteStatus AdmitToQueue(Connection* connection) {
    const auto* resumed = connection->attachment().waiting().ResumedOf(connection);
    if (resumed != nullptr) return resumed->refusal;
    return IsQueueFull(connection->server()) ? RouteStatus::kQueueFull : RouteStatus::kMatch;
  }
  // If JavaScript has too many unbegun requests, or older parked ones wait, parks the request and
  // returns true: the caller must keep its head and pause the input with kPauseMemory. Returns
  // false otherwise.
  bool Parks(Connection* connection, const Route& route) {
    Attachment& attachment = connection->attachment();
    const bool is_overtaking =
        !attachment.waiting().empty() && attachment.waiting().ResumedOf(connection) == nullptr;
    if (!is_overtaking && !attachment.IsFull()) return false;
    Park(connection, route);
    return true;
  }
  // Returns kFlagClaimable if the lane may later claim the request back and needs the flag for
  // that, otherwise 0.
  static uint32_t ClaimFlag(const Connection* connection, const Route& route) {
    if (!connection->server()->attachment->claimed().needs_flag()) return 0;
    const bool has_deadline = connection->server()->config->settings().queue_timeout != 0;
    return has_deadline || route.has_others ? uint32_t{records::kFlagClaimable} : 0;
  }
  // Must be called when JavaScript got a request of this connection. `bytes` are the whole request
  // as received, for another owner of the queue (Route::has_others); empty for a stream.
  void AddUnread(const Connection* connection, const http1::RequestHead& head, const Route& route,
                 std::string_view bytes);

 private:
  static bool IsQueueFull(LaneServer* server);
  void Park(Connection* connection, const Route& route);

  const int head_method_;
  PassClock* clock_;
};

}  // namespace httpsys::engine
