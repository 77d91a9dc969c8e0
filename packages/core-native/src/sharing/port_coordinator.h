#pragma once
// The coordinator's part on one port. The coordinator decides on registrations, first come, first
// served, tells all members, and confirms a registration once every member applies it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "peer/frame_reader.h"
#include "sharing/cache_grants.h"
#include "sharing/port_descent.h"
#include "sharing/port_queries.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine: frames and the time come in, frames and other effects go out. Used while
// this engine coordinates. Thread: one at a time.
class PortCoordinator {
 public:
  PortCoordinator(PortRecord* record, PortEffects* effects)
      : record_(record),
        effects_(effects),
        queries_(record, effects),
        descent_(effects),
        caches_(record, effects) {}

  // -- Its term.

  // Begins the term. Members that are known already get limits::kReunionMs to come back. `victory`
  // says at which rank of the meeting place this engine is the coordinator.
  void Begin(const PortSuccession::Victory& victory, uint64_t now_ms);
  // The rank of the meeting place that this engine has.
  uint32_t rank() const { return descent_.rank(); }
  // Gives the meeting place and all links up, because another member has succeeded this one. What
  // this engine has registered is its own, and is registered again.
  void StepDown();
  // True if nobody waits for anything and no deadline runs, so that Tick() need not be called.
  bool IsIdle() const;
  void Tick(uint64_t now_ms);
  // Takes all prefixes of this engine back, because the engine is ending.
  void SayGoodbye(uint64_t now_ms);

  // -- Links.

  // Somebody has connected to the meeting place. Returns false if there is no room.
  bool OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms);
  // Handles a frame. `address` is the address of the listening socket that came with it, or empty.
  // Returns false if the peer breaks the protocol: the caller must cut it off.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // The lanes of this engine apply all changes up to `serial`.
  void OnApplied(uint32_t serial, uint64_t now_ms);
  bool has_links() const { return !sessions_.empty(); }
  // True if members have not come back to this coordinator, so that they hear of no change: those
  // of the last term, or those that a successor has had.
  bool IsAwaiting() const;

  // -- What this engine wants.

  // Decides on a registration of this engine. Returns true if `result` is final; otherwise
  // PortEffects::Complete() is called when all members have confirmed it.
  bool Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms);
  // The same for a registration that has waited for a coordinator. Always ends with Complete().
  void RegisterQueued(const peer::Register& wanted, uint64_t now_ms);
  // Registers the prefixes of this engine again, in case the last coordinator has left them out.
  void RegisterAgain(uint64_t now_ms);
  // Tells the members of entries that were removed from the record. With a token, Complete() is
  // called when everybody knows.
  void TellRemoval(uint32_t token, const std::vector<PortRecord::Change>& changes, uint64_t now_ms);
  // Tells the members of removed or absent entries, of a new entry, or of a listening socket.
  // SyncAll() makes them apply it.
  void TellChanges(const std::vector<PortRecord::Change>& changes);
  void TellEntry(const peer::Entry& entry);
  void TellSocket(const std::string& address, LinkId except = 0);
  // Makes the members, and the lanes of this engine, apply everything told so far. Returns the
  // serial by which they confirm that.
  uint32_t SyncAll();
  // How the members share the memory for caches.
  CacheGrants& caches() { return caches_; }
  // Tells the members of a new key for session tickets, if there is one.
  void TellTicketKeys();
  // True if there are members and the port has TLS, so that ticket keys are told.
  bool TellsTicketKeys() const;

 private:
  // A link to another member, or to a program that only asks for the state.
  struct Session {
    uint64_t id = 0;  // The member's id; 0 = no kHello has come.
    uint64_t since_ms = 0;
    Credentials credentials;
    uint32_t synced = 0;      // The serial of the last change that the member has confirmed.
    bool has_synced = false;  // The member has confirmed something, and registered what it had.
    bool is_moving = false;   // The member has left this coordinator, which was stopped.
  };

  // A registration or removal that all members have to confirm.
  struct Confirmation {
    uint32_t serial = 0;
    uint64_t deadline_ms = 0;
    LinkId link = 0;  // The link of the member that asked; 0 = this engine.
    uint32_t token = 0;
    bool is_removal = false;  // Members that have not come back must confirm it, too.
    bool is_applied = false;  // The lanes of this engine apply it.
  };

  bool OnHello(LinkId link, std::string_view payload, uint64_t now_ms);
  void SendSnapshot(LinkId link, uint64_t now_ms);
  void SendEntry(LinkId link, const StateEntry& there, uint64_t now_ms);
  bool OnRegister(LinkId link, std::string_view payload, uint64_t now_ms);
  bool OnUnregister(LinkId link, std::string_view payload, uint64_t now_ms);
  bool OnKnown(LinkId link, std::string_view payload, uint64_t now_ms);
  RegistrationResult Decide(uint64_t member, const peer::Register& wanted, uint64_t now_ms);
  bool GivesWay(const Conflict& conflict, uint64_t member, const peer::Register& wanted,
                uint64_t now_ms);
  void RemoveMember(uint64_t id, uint64_t now_ms);
  void TellMemberGone(uint64_t id, uint64_t now_ms);
  void DropSilent(uint64_t now_ms);
  void EndReunion(uint64_t now_ms);
  void TellSuccession(uint64_t now_ms);
  std::vector<uint64_t> MissingMembers() const;
  void ExpireEntries(uint64_t now_ms);
  void Confirm(Confirmation confirmation, uint64_t now_ms);
  void CheckConfirmations(uint64_t now_ms);
  void FinishConfirmation(const Confirmation& confirmation);
  void Broadcast(peer::FrameType type, const std::string& payload, LinkId except = 0);
  bool IsHere(uint64_t member) const;
  const Session* FindPresent(uint64_t member) const;
  bool HasReturned(uint64_t member) const;

  PortRecord* const record_;
  PortEffects* const effects_;
  PortQueries queries_;
  PortDescent descent_;
  CacheGrants caches_;
  std::map<LinkId, Session> sessions_;
  uint32_t serial_ = 0;
  bool has_unsynced_ = false;  // Members have told of absent entries since the last sync.
  std::vector<Confirmation> confirmations_;
  // Until when members of the last term may come back; 0 = that time is over.
  uint64_t reunion_deadline_ms_ = 0;
  // True if members may come that this coordinator does not know, and that know more of the port:
  // they have joined a successor that has ended, or this engine was new on the port when it took
  // the place. They have until reunion_deadline_ms_.
  bool may_miss_members_ = false;
  // The same of members that may use memory for caches.
  bool may_miss_caches_ = false;
  uint64_t tell_at_ms_ = 0;  // When those that have not come back are told again.
  std::string told_key_;     // The newest ticket key that the members know.
};

}  // namespace httpsys::sharing
