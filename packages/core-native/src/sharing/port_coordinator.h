#pragma once
// The coordinator's part on one port: decides on registrations, first come, first served, tells all
// members, and confirms a registration when every member goes by it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "peer/frame_reader.h"
#include "sharing/port_queries.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine: frames and the time come in, frames and other effects go out. One thread at
// a time. Used while this engine coordinates.
class PortCoordinator {
 public:
  PortCoordinator(PortRecord* record, PortEffects* effects)
      : record_(record), effects_(effects), queries_(record, effects) {}

  // -- Its term.

  // Members that are known already have time to come back.
  void Begin(uint64_t now_ms);
  // Nobody waits for anything, nor does a deadline run: no ticks are needed.
  bool IsIdle() const;
  void Tick(uint64_t now_ms);
  // This engine ends: takes its prefixes back.
  void SayGoodbye(uint64_t now_ms);

  // -- Links.

  // Somebody has come. False: there is no room.
  bool OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms);
  // `address` is that of a listening socket of the port which has come with the frame, or empty.
  // False: the peer speaks nonsense and is to be cut off.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // This engine's lanes go by what was told up to `serial`.
  void OnApplied(uint32_t serial, uint64_t now_ms);
  bool has_links() const { return !sessions_.empty(); }
  // Some of those that a new coordinator knows of have not come back, and hear of no change.
  bool IsAwaiting() const;

  // -- What this engine wants.

  // Decides. True: the result is there; otherwise Complete() follows when all have confirmed it.
  bool Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms);
  // The same for what has waited for a coordinator; Complete() always follows.
  void RegisterQueued(const peer::Register& wanted, uint64_t now_ms);
  // Registers again what this engine has, where the last coordinator has left it out.
  void RegisterAgain(uint64_t now_ms);
  // Entries were removed from the record. With a token Complete() follows when everybody knows.
  void TellRemoval(uint32_t token, const std::vector<PortRecord::Change>& changes, uint64_t now_ms);
  void TellChanges(const std::vector<PortRecord::Change>& changes);
  void TellEntry(const peer::Entry& entry);
  void TellSocket(const std::string& address, LinkId except = 0);
  // Everything told so far is to be in force.
  void Sync() { SyncAll(); }
  // Tells keys of session tickets that have been replaced, as time goes by.
  void TellTicketKeys();
  // The members use session tickets.
  bool TellsTicketKeys() const;

 private:
  // One other member, or somebody who only asks.
  struct Session {
    uint64_t id = 0;  // 0 = has not said hello.
    uint64_t since_ms = 0;
    Credentials credentials;
    uint32_t synced = 0;  // Serial of the last change it has confirmed.
    uint16_t protocol = 0;
  };

  // A registration or removal that is to be confirmed by all.
  struct Confirmation {
    uint32_t serial = 0;
    uint64_t deadline_ms = 0;
    LinkId link = 0;  // Whose; 0 = this engine's.
    uint32_t token = 0;
    bool is_removal = false;  // Also those who have not come back are to know of it.
    bool is_applied = false;  // By the lanes of this engine.
  };

  bool OnHello(LinkId link, std::string_view payload, uint64_t now_ms);
  void Refuse(LinkId link, peer::RefusalReason reason);
  void SendSnapshot(LinkId link, uint64_t now_ms);
  bool OnRegister(LinkId link, std::string_view payload, uint64_t now_ms);
  bool OnUnregister(LinkId link, std::string_view payload, uint64_t now_ms);
  bool OnKnown(LinkId link, std::string_view payload, uint64_t now_ms);
  RegistrationResult Decide(uint64_t member, const peer::Register& wanted, uint64_t now_ms);
  void RemoveMember(uint64_t id, uint64_t now_ms);
  void TellMemberGone(uint64_t id, uint64_t now_ms);
  void DropSilent(uint64_t now_ms);
  void EndReunion(uint64_t now_ms);
  void ExpireEntries(uint64_t now_ms);
  uint32_t SyncAll();
  void Confirm(Confirmation confirmation, uint64_t now_ms);
  void CheckConfirmations(uint64_t now_ms);
  void FinishConfirmation(const Confirmation& confirmation);
  void Broadcast(peer::FrameType type, const std::string& payload, LinkId except = 0);
  std::vector<LinkId> MemberLinks() const;
  bool HasDied(uint64_t member) const;
  bool IsHere(uint64_t member) const;

  PortRecord* const record_;
  PortEffects* const effects_;
  PortQueries queries_;
  std::map<LinkId, Session> sessions_;
  uint32_t serial_ = 0;
  bool has_unsynced_ = false;  // Entries that members knew and that are not in force yet.
  std::vector<Confirmation> confirmations_;
  uint64_t reunion_deadline_ms_ = 0;
  std::string told_key_;  // The newest one of those that the members know.
};

}  // namespace httpsys::sharing
