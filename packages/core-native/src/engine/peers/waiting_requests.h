#pragma once
// The requests that wait until their owner is known or can take them.

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
  WaitingRequests(const WaitingRequests&) = delete;
  WaitingRequests& operator=(const WaitingRequests&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Makes the request wait for its target. Returns kWaiting.
  Outcome Wait(Connection* connection);
  // Makes a request that came back look for its owner a little later: the later, the more often it
  // has come back.
  void WaitReturned(Connection* connection) override;
  // Makes a request look for its owner again in this turn of the loop: the owner that has returned
  // it is there, but blocked.
  void WaitUnbegun(Connection* connection) override;
  // The same for all that wait: an owner that was blocked has begun something.
  void RetrySoon() { has_due_ = true; }
  bool has_due() const { return has_due_; }
  // True for a request that looks again and has waited for longer than limits::kBlockedMs: if it
  // waits only for busy JavaScript of this member, it does so in its queue from then on, where new
  // requests do not overtake it, and where it has a deadline.
  bool HasWaited(const Connection* connection) const {
    return connection == retried_ && uv_now(timer_.loop) - retried_since_ms_ > limits::kBlockedMs;
  }
  // Resumes the input of every waiting connection and stream, which looks for its owner again. A
  // request that came back looks in its time only.
  void Retry() { RetryIf(uv_now(timer_.loop)); }
  // Must be called when the routes have changed: those that came back look again, too. Where routes
  // change all the time, requests look once in limits::kWaitingRetryMs.
  void OnRoutes();
  bool has_waiting() const { return !waiting_.empty(); }
  void OnDetached(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    uint64_t due_ms = 0;    // On the loop's clock.
    uint64_t since_ms = 0;  // When the request began to wait.
  };

  void AddWaiting(Connection* connection, uint64_t due_ms);
  void RetryIf(uint64_t due_ms);
  void ArmTimer();
  void OnTimer();

  Input* input_;
  uv_timer_t timer_;
  std::list<Waiting> waiting_;  // In the order in which they began to wait.
  // All clients may leave while their requests wait, so a place is found without a search.
  std::unordered_map<const Connection*, std::list<Waiting>::iterator> places_;
  bool is_retrying_ = false;
  const Connection* retried_ = nullptr;  // Looks for its owner again just now.
  uint64_t retried_since_ms_ = 0;
  bool has_due_ = false;         // RetrySoon() was called since the last look.
  bool has_new_routes_ = false;  // The next look is everybody's.
  uint64_t retried_ms_ = 0;      // When everybody looked last, on the loop's clock.
};

}  // namespace httpsys::engine
