#pragma once
// Requests that wait until their owner is known or can take them.

#include <uv.h>

#include <cstdint>
#include <list>
#include <unordered_map>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/relays.h"
#include "engine/requests/request_router.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Thread: the lane.
class WaitingRequests final : public Relays::Owner {
 public:
  using Outcome = RequestRouter::Outcome;

  WaitingRequests(uv_loop_t* loop, Input* input);
  WaitingRequests& operator=(WaitingRequests&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Makes the request wait for its target. Returns kLater.
  Outcome Wait(Connection* connection);
  // Makes a request that came back look for its owner a little later: the more often it has come
  // back, the later.
  void WaitReturned(Connection* connection) override;
  // Makes a request look for its owner again in this turn of the loop, after a blocked owner has
  // returned it.
  void WaitUnbegun(Connection* connection) override;
  // Makes all waiting requests look again in this turn: a blocked owner has begun a request.
  void RetrySoon() { has_due_ = true; }
  bool has_due() const { return has_due_; }
  // True while a request looks again that has waited for longer than limits::kBlockedMs. If the
  // request waits only for busy JavaScript of this member, it then goes to the queue of JavaScript,
  // where it has a deadline and new requests do not overtake it.
  bool HasWaited(const Connection* connection) const {
    return connection == retried_ && uv_now(timer_.loop) - retried_since_ms_ > limits::kBlockedMs;
  }
  // Resumes the input of every waiting connection and stream: its request looks for its owner
  // again. Returned requests are left out until their time has come.
  void Retry() { RetryIf(uv_now(timer_.loop)); }
  // Must be called when the routes have changed: all requests look again, returned ones, too, but
  // at most once in limits::kWaitingRetryMs.
  void OnRoutes();
  bool has_waiting() const { return !waiting_.empty(); }
  void OnDetached(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    uint64_t due_ms = 0;    // When the request looks for its owner again, on the loop's clock.
    uint64_t since_ms = 0;  // When the request began to wait.
  };

  void AddWaiting(Connection* connection, uint64_t due_ms);
  void RetryIf(uint64_t due_ms);
  void ArmTimer();
  void OnTimer();

  Input* input_;
  uv_timer_t timer_;
  std::list<Waiting> waiting_;  // The waiting requests, in the order in which their wait began.
  // The place of each connection in waiting_, so that removing one needs no search: many clients
  // may leave while they wait.
  std::unordered_map<const Connection*, std::list<Waiting>::iterator> places_;
  bool is_retrying_ = false;
  const Connection* retried_ = nullptr;  // The connection whose request looks for its owner now.
  uint64_t retried_since_ms_ = 0;
  bool has_due_ = false;         // RetrySoon() was called since the last look.
  bool has_new_routes_ = false;  // At the next look all requests look, returned ones, too.
  uint64_t retried_ms_ = 0;      // When all requests looked last, on the loop's clock.
};

}  // namespace httpsys::engine
