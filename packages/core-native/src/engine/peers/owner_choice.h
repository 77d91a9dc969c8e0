#pragma once
// Chooses which owner of a queue gets a request.

#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/limits.h"
#include "engine/connection/attachments.h"
#include "engine/connection/connection.h"
#include "engine/connection/sharing_marks.h"
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
  OwnerChoice(const OwnerChoice&) = delete;
  OwnerChoice& operator=(const OwnerChoice&) = delete;
  // Must be called before the loop is closed.
  void Close();

  // Chooses the owner for a request: the connection's own server while its JavaScript is not
  // blocked, otherwise the next owner in turn that has not said that it is blocked, too.
  // `connection` nullptr = a connection that was just accepted. Returns nullptr if the request must
  // wait because JavaScript is about to be free, or has moved too often to leave; `has_waited`: it
  // has done so.
  const Routes::Owner* Choose(Port* port, const Connection* connection, uint32_t target_id,
                              bool has_waited);
  // The same for a stream of HTTP/2, which stays with its connection as long as an owner is here
  // and not blocked.
  const Routes::Owner* ChooseForStream(Port* port, uint32_t target_id, bool has_waited);
  // Returns an owner that can be reached, in place of one that cannot; `dead` if there is none.
  const Routes::Owner* OtherOwner(const Routes::Target& target, const Routes::Owner& dead);
  // Returns the owner that lent this connection and wants it back, if the connection is idle but
  // for this request. Returns nullptr if the connection stays.
  const Routes::Owner* GivesBackTo(const Connection* connection, const Routes::Target& target,
                                   bool has_more);
  // Returns the member that shall get the connection back when it goes to `next` only because an
  // owner is blocked; 0 = nobody.
  uint64_t HomeOf(const Connection* connection, uint64_t next) const;
  // How many times the connection or its request has moved because an owner was blocked. The first
  // move of a new connection is not one of these: it is given to the owner whose turn it is.
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
  // This JavaScript is known to be blocked, until it begins something.
  void NoteBlocked(Attachment* attachment);
  // True if others were told that JavaScript is blocked, and it has begun something since.
  bool HasBegun() { return is_told_blocked_ && !IsBlocked(); }
  // Must be called in each turn of the loop, and whenever JavaScript may have begun something:
  // those that were told that it is blocked hear of that.
  void BeginPass();
  // True if a member that can be given requests, and has not said that it is blocked, owns the
  // target, too.
  bool HasFreePeer(uint16_t port, uint32_t target_id) const;
  // Must be called when a connection was passed on because this member is blocked. Other members
  // are told (PeerLinks::TellFree()) when it has been free for a while.
  void OnLent() { has_lent_ = true; }
  // Notes that member `home` has passed this connection on because it was blocked.
  void Lend(Connection* connection, uint64_t home) {
    lent_[connection].home = home;
    SharingMarks::SetLent(connection, true);
  }
  // A member is not blocked any more. It wants the connections back that it has passed on while it
  // was blocked.
  void OnFree(uint64_t member);
  // Must be called before records are published: measures how long JavaScript has been busy.
  void OnPublishing();
  void OnDetached(Connection* connection) {
    if (connection->sharing.is_lent()) lent_.erase(connection);
    SharingMarks::SetLent(connection, false);
  }

 private:
  // Returns the owner that is here and whose listen() has called back, or nullptr.
  const Routes::Owner* OpenOwn(const Routes::Target& target) const;
  // True if JavaScript has not read everything that it was given.
  bool IsBusy() const { return attachments_->HasUnread(); }
  // How long JavaScript has not begun anything, although it could.
  uint64_t BlockedMs();
  // True if other owners should take new requests.
  bool IsBlocked() { return BlockedMs() >= limits::kBlockedMs; }
  // The same for a request that looks for its owner: it leaves in haste.
  bool MustLeave();
  // JavaScript was found blocked.
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
  bool is_told_blocked_ = false;   // OnBlocked() was called since JavaScript has begun something.
  // Makes the loop turn until this member is free again.
  uv_timer_t free_timer_;
  uint64_t blocked_at_ms_ = 0;  // When JavaScript was found blocked last.
  bool has_lent_ = false;       // Connections were passed on, and TellFree() was not called since.
  // True if the last Choose() chose another member because this one is blocked.
  bool is_lending_ = false;
};

}  // namespace httpsys::engine
