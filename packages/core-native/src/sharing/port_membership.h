#pragma once
// A member's part on one port: finds the coordinator, sends it this engine's registrations, and
// keeps a copy of the port's state. Without a coordinator, members compete for the meeting place.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "peer/frame_reader.h"
#include "sharing/port_record.h"
#include "sharing/port_succession.h"

namespace httpsys::sharing {

// A pure state machine: frames and the time come in, frames and other effects go out. Used while
// this engine does not coordinate. Thread: one at a time.
class PortMembership {
 public:
  PortMembership(PortRecord* record, PortEffects* effects)
      : record_(record), effects_(effects), succession_(effects) {}

  // -- Joining and leaving.

  // Makes the next Tick() look for the coordinator.
  void SeekSoon() { retry_at_ms_ = 0; }
  // True if no deadline runs, so that Tick() need not be called.
  bool IsIdle() const;
  void Tick(uint64_t now_ms);
  // True if the coordinator knows this engine and this engine has the coordinator's state.
  bool is_joined() const { return is_joined_; }
  // The link to the coordinator; 0 = none.
  LinkId link() const { return link_; }
  // If this engine has taken the meeting place since the last call, returns its rank
  // (PortCoordinator must take over); otherwise nothing.
  std::optional<PortSuccession::Victory> TakeWin() { return std::exchange(won_, std::nullopt); }
  // Must be called when another member reports that it doubts the coordinator (kDoubt).
  void OnDoubt();
  // True if this engine must leave the port: joining failed, or it has registered nothing any more.
  bool is_over() const { return is_over_; }
  // Unregisters all prefixes of this engine before the engine ends.
  void SayGoodbye();

  // -- Links to the coordinator.

  // Handles a frame. `address` is the address of the listening socket that came with it, or empty.
  // Returns false if the link is none of this member's, or the coordinator breaks the protocol: the
  // caller must close the link.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // Must be called when all lanes apply all changes over applied.link up to applied.serial.
  void OnApplied(const Applied& applied);

  // -- Registrations of this engine.

  // Sends the coordinator all waiting registrations. PortEffects::Complete() is called for each.
  void AskQueued(uint64_t now_ms);
  // Informs the coordinator of a removal. If `token` is not 0, Complete() is called when every
  // member applies the removal.
  void TellRemoval(uint32_t token, const peer::Unregister& gone, uint64_t now_ms);
  // Registers the prefixes of a server again. Complete() is called only if the coordinator refuses.
  void TellAgain(uint32_t server_id);
  void TellSocket(const std::string& address);
  // Tells the coordinator how much memory this engine wants for the output cache of its process.
  void TellCacheWish();
  // Must be called when the certificate rules (terms) of a registration change while the
  // coordinator decides on it: the new ones are sent after its answer.
  void ChangeTermsOfAsked(uint32_t token) { changed_terms_.insert(token); }

 private:
  bool OnCoordinatorsFrame(const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void Seek(uint64_t now_ms);
  void SeekPlace(uint64_t now_ms);
  bool FailByStranger(uint64_t now_ms);
  void TellStranger(RegistrationResult why);
  void FailJoining(const RegistrationResult& why, uint64_t now_ms);
  bool OnWelcome(std::string_view payload);
  bool OnRefusal(std::string_view payload, uint64_t now_ms);
  bool OnEntry(PortState* state, std::string_view payload, uint64_t now_ms);
  bool OnSync(std::string_view payload, uint64_t now_ms);
  void AdoptTold(uint64_t now_ms);
  void TellKnown(const PortState& before, uint64_t now_ms);
  bool Part(bool is_gone, uint64_t now_ms);
  bool MaySucceed() const;
  PortSuccession::Member AsMember() const;
  void OnFinding(PortSuccession::Finding finding, uint64_t now_ms);
  void AddOwnEntries(uint64_t now_ms);
  void RemoveRefused();
  bool IsRefused(peer::Register registered) const;
  bool OnRegistered(std::string_view payload, uint64_t now_ms);
  void OnOwnRegistered(const peer::Registered& answer);
  void SendRegister(const peer::Register& wanted);
  void SendAgain(peer::Register registered);
  void ExpectAnswer(uint64_t now_ms);
  void GiveUpAsked(uint64_t now_ms);

  PortRecord* const record_;
  PortEffects* const effects_;
  bool is_joined_ = false;
  std::optional<PortSuccession::Victory> won_;
  bool is_over_ = false;
  // Tokens of registrations whose terms (certificate rules) have changed since they were sent.
  std::set<uint32_t> changed_terms_;
  LinkId link_ = 0;
  uint32_t rank_ = 0;  // The rank of the meeting place at which the coordinator was found.
  Credentials coordinator_;
  uint64_t coordinator_id_ = 0;
  PortSuccession succession_;
  // The state that a new coordinator is sending, until it is complete; nullptr = none.
  std::unique_ptr<PortState> told_;
  uint64_t join_deadline_ms_ = 0;
  uint64_t retry_at_ms_ = 0;
  uint64_t stranger_look_at_ms_ = 0;
  bool is_stranger_told_ = false;  // JavaScript knows that another user has the meeting place.
  // Deadline for the coordinator's answers; 0 = no answer is awaited.
  uint64_t answer_deadline_ms_ = 0;
};

}  // namespace httpsys::sharing
