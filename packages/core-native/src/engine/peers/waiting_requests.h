#pragma once
// Requests that wait until it is known who answers them.

#include <uv.h>

#include <cstdint>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relays.h"
#include "engine/requests/request_router.h"
#include "url/url_prefix_table.h"

namespace httpsys::engine {

// Thread: the lane.
class WaitingRequests final : public Relays::Owner {
 public:
  using Outcome = RequestRouter::Outcome;

  WaitingRequests(uv_loop_t* loop, Input* input, PortTable* table);
  WaitingRequests(const WaitingRequests&) = delete;
  WaitingRequests& operator=(const WaitingRequests&) = delete;
  // Before the loop is closed.
  void Close();

  // The request waits for its target, unless too many do.
  Outcome Wait(Connection* connection, Route* route);
  // A request that came back looks for its owner a little later.
  void WaitReturned(Connection* connection) override;
  // Looks again at requests that wait for their owner.
  void Retry();
  bool has_waiting() const { return !waiting_.empty(); }
  void OnDetached(Connection* connection);

 private:
  struct Waiting {
    Connection* connection = nullptr;
    uint32_t target_id = kAnyTarget;
  };
  static constexpr uint32_t kAnyTarget = UINT32_MAX;

  void AddWaiting(Connection* connection, uint32_t target_id);
  // Of those that wait: the number for a target. nullptr: it is not counted.
  uint32_t* WaitingFor(const Connection* connection, uint32_t target_id);
  void ArmTimer();

  Input* input_;
  PortTable* table_;
  uv_timer_t timer_;
  std::vector<Waiting> waiting_;
  bool is_retrying_ = false;
};

}  // namespace httpsys::engine
