#pragma once
// Which of the owners of a queue gets a request.

#include <uv.h>

#include <cstdint>
#include <unordered_map>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relays.h"
#include "records/request_queue.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Thread: the lane.
class OwnerChoice {
 public:
  using Routes = sharing::PortRoutes;
  using Port = PortTable::Port;

  OwnerChoice(uv_loop_t* loop, uint64_t self, const RequestQueue* queue, PortTable* table,
              PeerLinks* links);
  OwnerChoice(const OwnerChoice&) = delete;
  OwnerChoice& operator=(const OwnerChoice&) = delete;
  // Before the loop is closed.
  void Close();

  const Routes::Owner* Choose(Port* port, const Connection* connection, uint32_t target_id);
  const Routes::Owner* ChooseForStream(Port* port, uint32_t target_id);
  const Routes::Owner* OtherOwner(const Routes::Target& target, const Routes::Owner& dead);
  const Routes::Owner* GivesBackTo(const Connection* connection, const Routes::Target& target,
                                   bool has_more);
  uint64_t HomeOf(const Connection* connection, uint64_t next) const;
  void OnLent();
  // Another member has passed this connection on because it was blocked.
  void Lend(Connection* connection, uint64_t home) {
    lent_[connection].home = home;
    connection->is_lent = true;
  }
  void OnFree(uint64_t member);
  void OnPublishing();
  void OnDetached(Connection* connection) {
    if (connection->is_lent) lent_.erase(connection);
    connection->is_lent = false;
  }

 private:
  // JavaScript has not read everything that it was given.
  bool IsBusy() const { return queue_->HasUnread(); }
  uint64_t BlockedMs();
  // Others should take what comes.
  bool IsBlocked() { return BlockedMs() >= limits::kBlockedMs; }

  // A connection that another member passed on because it was blocked.
  struct Lent {
    uint64_t home = 0;
    bool is_called_back = false;
  };

  const uint64_t self_;
  const RequestQueue* queue_;
  PortTable* table_;
  PeerLinks* links_;
  uint64_t consumed_ = 0;          // What JavaScript had read when it was looked at last.
  uint64_t working_since_ms_ = 0;  // On what it has not read, at the earliest.
  std::unordered_map<const Connection*, Lent> lent_;
  uv_timer_t free_timer_;    // Runs until this member has told that it is free again.
  uint64_t lent_at_ms_ = 0;  // To others, the last time.
  bool is_lending_ = false;  // What Choose() has said last: somebody else, because of that.
};

}  // namespace httpsys::engine
