#pragma once
// Takes requests back from JavaScript that is blocked, so that another owner of the queue gets
// them.

#include <uv.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/connection/attachment.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/unread_requests.h"
#include "engine/peers/port_router.h"
#include "engine/requests/request_router.h"
#include "engine/requests/withdrawals.h"

namespace httpsys::engine {

// A lane gives requests to JavaScript before it knows whether JavaScript is free: it may be busy
// with a timer of the application, or the first of several requests may block it. The workers of
// HTTP.SYS take requests themselves when they are free. Here, the lane takes back requests that
// blocked JavaScript has not begun (ClaimedRequests decides who gets a request), and reads them
// again: OwnerChoice then finds another owner. Thread: the lane.
class RequestReclaim {
 public:
  RequestReclaim(uv_loop_t* loop, const Attachments* attachments, LanePatience* patience,
                 PortRouter* router, Input* input, UnbegunStreams* streams,
                 Withdrawals* withdrawals);
  RequestReclaim& operator=(RequestReclaim&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Must be called in each turn of the loop. Takes back the requests that can now move to another
  // owner, and makes the loop turn again if there may be more.
  void Run();
  // Must be called after the lane has let other threads run. Puts the lane in haste if JavaScript
  // seems to be blocked, so that the next Run() comes in time.
  void Look();

 private:
  using Item = UnreadRequests::Item;
  // The CPU time that a JavaScript thread had used at one point in time.
  struct Sample {
    uint64_t at_ns = 0;
    uint64_t cpu_ns = 0;
  };

  void TakeSamples();
  // True if JavaScript has begun nothing for `blocked_ms`, and not only because it waits for a CPU.
  bool IsBlocked(const Attachment& attachment, uint64_t blocked_ms);
  // Returns false if nothing was taken back.
  bool TakeBack(Attachment* attachment, uint64_t blocked_ms);
  // Lets the oldest of the parked requests look for an owner that is not blocked. Returns false if
  // none may move.
  bool ResumeParked(Attachment* attachment, uint64_t blocked_ms);
  // True if another owner can have a request for the target, and the connection has not moved too
  // often for that.
  bool MayMove(const Connection* connection, uint32_t target_id, uint64_t blocked_ms) const;
  // As MayMove(), for a request that JavaScript was given: the lane must also be able to read it
  // again.
  bool CanTake(const Connection* connection, const Item& item, uint64_t blocked_ms) const;
  void Take(Connection* connection, const Item& item, std::string_view bytes);
  void LookForOwner(Connection* connection);

  const Attachments* attachments_;
  LanePatience* patience_;
  PortRouter* router_;
  Input* input_;
  UnbegunStreams* streams_;
  Withdrawals* withdrawals_;
  uv_timer_t timer_;
  std::unordered_map<const Attachment*, Sample> samples_;  // Taken when the timer is started.
  uint64_t looked_at_ms_ = 0;  // When Look() asked last whether a thread sleeps.
  // When Run() last found nothing to move, so that it looks once per ms only.
  uint64_t idle_at_ms_ = 0;
  bool is_blocked_ = false;  // Some JavaScript was blocked at the last Run().
  // Connections whose requests were taken back in this turn, and slots with a request that stays.
  std::vector<Connection*> taken_;
  std::unordered_set<uint32_t> staying_slots_;
};

}  // namespace httpsys::engine
