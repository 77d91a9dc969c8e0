#pragma once
// The coordinator's part on one port. The coordinator decides on registrations, first come, first
// served, informs all members, and confirms a registration once every member applies it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "peer/frame_reader.h"
#include "sharing/cache_shares.h"
#include "sharing/port_queries.h"
#include "sharing/port_record.h"
#include "sharing/port_succession.h"

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

  // -- The coordinator's term.

  // Begins the term. Members that are known already get limits::kReunionMs to come back. `victory`
  // says at which rank of the meeting place this engine is the coordinator.
  void Begin(const PortSuccession::Victory& victory, uint64_t now_ms);
  uint32_t rank() const { return descent_.rank(); }
  // Gives up the meeting place and all links, because another member has succeeded this engine. The
  // engine's registrations stay in the record: as a member it sends them to the successor.
  void StepDown();
  // True if no member or visitor waits and no deadline runs: Tick() need not be called.
  bool IsIdle() const;
  void Tick(uint64_t now_ms);
  // Unregisters all prefixes of this engine before the engine ends.
  void SayGoodbye(uint64_t now_ms);

  // -- Links.

  // Adds the link of a visitor of the meeting place. Returns false if there are too many links.
  bool OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms);
  // Handles a frame. `address` is the address of the listening socket that came with it, or empty.
  // Returns false if the peer breaks the protocol: the caller must close the link.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // Must be called when the lanes of this engine apply all changes up to `serial`.
  void OnApplied(uint32_t serial, uint64_t now_ms);
  bool has_links() const { return !sessions_.empty(); }
  // True while members of the last term, or members that had joined a successor, have not come
  // back: this coordinator cannot inform them of changes.
  bool IsAwaiting() const;

  // -- Registrations of this engine.

  // Decides on a registration of this engine. Returns true if `result` is final; otherwise
  // PortEffects::Complete() is called when all members have confirmed it.
  bool Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms);
  // Like Register(), for a registration that waited for a coordinator. Always calls Complete().
  void RegisterQueued(const peer::Register& wanted, uint64_t now_ms);
  // Registers this engine's prefixes again: a coordinator that died may have sent only some.
  void RegisterAgain(uint64_t now_ms);
  // Informs the members of entries that were removed from the record. If `token` is not 0,
  // Complete() is called when every member applies the removal.
  void TellRemoval(uint32_t token, const std::vector<PortRecord::Change>& changes, uint64_t now_ms);
  // These functions send the members removed or absent entries, a new entry, or a listening socket.
  // SyncAll() makes the members apply the entries.
  void TellChanges(const std::vector<PortRecord::Change>& changes);
  void TellEntry(const peer::Entry& entry);
  void TellSocket(const std::string& address, LinkId except = 0);
  // Makes the members, and the lanes of this engine, apply everything sent so far. Returns the
  // serial with which they confirm that.
  uint32_t SyncAll();
  CacheGrants& caches() { return caches_; }
  // Sends the members the keys for TLS session tickets if there is a new one.
  void TellTicketKeys();
  // True if TellTicketKeys() must be called regularly: the port has TLS and other members.
  bool TellsTicketKeys() const;

 private:
  // A link to another member, or to a program that only asks for the state.
  struct Session {
    uint64_t id = 0;  // The member's id; 0 = no kHello has come.
    uint64_t since_ms = 0;
    Credentials credentials;
    uint32_t synced = 0;  // The serial of the last change that the member has confirmed.
    // The member has confirmed a change, and registered again what it had.
    bool has_synced = false;
    bool is_moving = false;  // The member has left this coordinator, which was stopped.
  };

  // A registration or removal that all members have to confirm.
  struct Confirmation {
    uint32_t serial = 0;
    uint64_t deadline_ms = 0;
    LinkId link = 0;  // The link of the member that asked; 0 = this engine.
    uint32_t token = 0;
    bool is_removal = false;  // A removal: members that have not come back must confirm it, too.
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
  bool has_unsynced_ = false;  // Members have reported absent entries since the last sync.
  std::vector<Confirmation> confirmations_;
  // End of the time in which members of the last term may come back; 0 = it is over.
  uint64_t reunion_deadline_ms_ = 0;
  // True if members that this coordinator does not know, and that know more of the port, may come
  // until reunion_deadline_ms_: they joined a successor that has ended, or this engine was new on
  // the port when it became the coordinator.
  bool may_miss_members_ = false;
  // Like may_miss_members_, but for members whose caches use memory.
  bool may_miss_caches_ = false;
  uint64_t tell_at_ms_ = 0;  // Time of the next kDoubt to missing members.
  std::string told_key_;     // The newest ticket key that was sent to the members.
};

}  // namespace httpsys::sharing
