#pragma once
// Chooses which owner of a queue gets a request.

#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/limits.h"
#include "engine/connection/attachment.h"
#include "engine/connection/connection.h"
#include "engine/peers/lane_patience.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/port_table.h"
#include "engine/peers/relays.h"
#include "sharing/port_routes.h"

namespace httpsys::engine {

// Balances requests between the owners of a queue, and moves them away from owners whose JavaScript
// is blocked. Thread: the lane.
class OwnerChoice {
 public:
  using Routes = sharing::PortRoutes;
  using Port = PortTable::Port;

  OwnerChoice(uv_loop_t* loop, uint64_t self, const Attachments* attachments, PortTable* table,
              LanePatience* patience, PeerLinks* links);
  OwnerChoice& operator=(OwnerChoice&&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Chooses the owner for a request: the connection's own server while its JavaScript is not
  // blocked, otherwise the next owner in turn that has not reported to be blocked. `connection`
  // nullptr = a connection that was just accepted. Returns nullptr if the request must wait,
  // because JavaScript will soon be free, or because the request has moved too often. `has_waited`:
  // the request has waited already.
  const Routes::Owner* Choose(Port* port, const Connection* connection, uint32_t target_id,
                              bool has_waited);
  // As Choose(), for a stream of HTTP/2, which stays in this process as long as an owner here is
  // not blocked.
  const Routes::Owner* ChooseForStream(Port* port, uint32_t target_id, bool has_waited);
  // Returns an owner that can be reached instead of `dead`, which cannot; `dead` if there is none.
  const Routes::Owner* OtherOwner(const Routes::Target& target, const Routes::Owner& dead);
  // If the owner that lent this connection wants it back, and the connection is idle except for
  // this request, returns that owner. Returns nullptr if the connection stays.
  const Routes::Owner* GivesBackTo(const Connection* connection, const Routes::Target& target,
                                   bool has_more);
  // Returns the member that must get the connection back later, if the connection goes to `next`
  // only because an owner is blocked; 0 = none.
  uint64_t HomeOf(const Connection* connection, uint64_t next) const;
  // How many times the connection or its request has moved because an owner was blocked. The first
  // move of a new connection, to the owner whose turn it is, does not count.
  static int MovesOf(const Connection* connection) {
    const int hops = connection->sharing.hops();
    return hops == 0 || connection->sharing.is_lent() ? hops : hops - 1;
  }
  // How long an owner must be blocked before a connection moves once more.
  static uint64_t PatienceMs(int moves) {
    if (moves == 0) return limits::kAsleepMs;
    if (moves <= limits::kBusyMoves) return limits::kBusyMs;
    return limits::kBlockedMs << std::min<int>(moves - limits::kBusyMoves, limits::kBlockedHopsMax);
  }
  // Notes that JavaScript is blocked, until it begins another request.
  void NoteBlocked(Attachment* attachment);
  // True if OnBlocked() was called, and JavaScript has begun a request since.
  bool HasBegun() { return is_told_blocked_ && !IsBlocked(); }
  // Must be called in each turn of the loop, and whenever JavaScript may have begun a request. If
  // JavaScript is not blocked any more, informs the members that got kBlocked.
  void BeginPass();
  // True if the target has another owner that can be given requests and has not said that it is
  // blocked.
  bool HasFreePeer(uint16_t port, uint32_t target_id) const;
  // Must be called when a connection was passed on because this member is blocked. When this member
  // has been free for a while, PeerLinks::TellFree() informs the other members.
  void OnLent() { has_lent_ = true; }
  // Notes that member `home` has passed this connection on because it was blocked.
  void Lend(Connection* connection, uint64_t home) {
    lent_[connection].home = home;
    connection->sharing.SetLent(true);
  }
  // Must be called when a member is not blocked any more, and wants the connections back that it
  // passed on while it was blocked.
  void OnFree(uint64_t member);
  // Must be called before records are published: measures how long JavaScript has been busy.
  void OnPublishing();
  void OnDetached(Connection* connection) {
    if (connection->sharing.is_lent()) lent_.erase(connection);
    connection->sharing.SetLent(false);
  }

 private:
  // Returns the owner in this engine if its listen() has called back, otherwise nullptr.
  const Routes::Owner* OpenOwn(const Routes::Target& target) const;
  // True if JavaScript has not read everything that it was given.
  bool IsBusy() const { return attachments_->HasUnread(); }
  // Returns for how many ms JavaScript has begun no request although it had some.
  uint64_t BlockedMs();
  // True if JavaScript is blocked for so long that other owners should get new requests.
  bool IsBlocked() { return BlockedMs() >= limits::kBlockedMs; }
  // Returns true if a request that looks for its owner must leave, because IsBlocked(). In that
  // case also calls OnBlocked().
  bool MustLeave();
  // Must be called when JavaScript was found blocked: informs members that get requests from here.
  void OnBlocked();

  // A connection that another member has passed on because it was blocked.
  struct Lent {
    uint64_t home = 0;
    bool is_called_back = false;
  };

  const uint64_t self_;
  const Attachments* attachments_;
  PortTable* table_;
  LanePatience* patience_;
  PeerLinks* links_;
  std::unordered_map<const Connection*, Lent> lent_;
  Attachment* blocked_ = nullptr;  // See NoteBlocked().
  uint64_t blocked_at_ = 0;        // RequestQueue::begun() at the last NoteBlocked().
  bool is_told_blocked_ = false;  // OnBlocked() was called, and JavaScript has begun nothing since.
  // Runs until this member has been free for a while.
  uv_timer_t free_timer_;
  uint64_t blocked_at_ms_ = 0;  // When JavaScript was found blocked last.
  bool has_lent_ = false;       // Connections were passed on, and TellFree() was not called since.
  // True if the last Choose() chose another member because this one is blocked.
  bool is_lending_ = false;
};

}  // namespace httpsys::engine
