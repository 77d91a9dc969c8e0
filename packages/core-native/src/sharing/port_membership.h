#pragma once
// A member's part on one port: finds the coordinator, asks it for what this engine wants, and keeps
// a copy of its state. When the coordinator goes, it runs for the meeting place with the others.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "peer/frame_reader.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine: frames and the time come in, frames and other effects go out. One thread at
// a time. Used while this engine does not coordinate.
class PortMembership {
 public:
  PortMembership(PortRecord* record, PortEffects* effects) : record_(record), effects_(effects) {}

  // -- Its course.

  // The next Tick() looks for the coordinator.
  void SeekSoon() { retry_at_ms_ = 0; }
  // No deadline runs: no ticks are needed.
  bool IsIdle() const;
  void Tick(uint64_t now_ms);
  // The coordinator knows this engine, and this engine its state.
  bool is_joined() const { return is_joined_; }
  LinkId link() const { return link_; }
  // True once: this engine has taken the meeting place, and PortCoordinator goes on.
  bool TakeWin() { return std::exchange(has_won_, false); }
  // The port is to be given back: joining has failed, or nobody is left who could hear of a
  // removal.
  bool is_over() const { return is_over_; }
  // This engine ends: takes its prefixes back.
  void SayGoodbye();

  // -- The link to the coordinator.

  // `address` is that of a listening socket of the port which has come with the frame, or empty.
  // False: the coordinator speaks nonsense and is to be cut off.
  bool OnFrame(const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(uint64_t now_ms);
  // This engine's lanes go by what the coordinator of that link has told up to `serial`.
  void OnApplied(const Applied& applied);

  // -- What this engine wants.

  // Asks for what waited for a coordinator. Complete() follows.
  void AskQueued(uint64_t now_ms);
  // Tells what the record does not have any more. With a token Complete() follows.
  void TellRemoval(uint32_t token, const peer::Unregister& gone, uint64_t now_ms);
  // Registers again what a server has; the answer tells nothing when it is granted.
  void TellAgain(uint32_t server_id);
  void TellSocket(const std::string& address);
  // Terms have changed of what the coordinator is being asked for: it hears of it after its answer.
  void ChangeTermsOfAsked(uint32_t token) { changed_terms_.insert(token); }

 private:
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
  void KeepHalfTold(uint64_t now_ms);
  void AddOwnEntries(uint64_t now_ms);
  void RemoveRefused();
  bool IsRefused(peer::Register registered) const;
  bool OnRegistered(std::string_view payload, uint64_t now_ms);
  void OnOwnRegistered(const peer::Registered& answer);
  void SendRegister(peer::Register wanted);
  void SendAgain(peer::Register registered);
  void ExpectAnswer(uint64_t now_ms);
  void GiveUpAsked(uint64_t now_ms);

  PortRecord* const record_;
  PortEffects* const effects_;
  bool is_joined_ = false;
  bool has_won_ = false;
  bool is_over_ = false;
  std::set<uint32_t> changed_terms_;  // Tokens of those that have others since they were asked for.
  LinkId link_ = 0;
  Credentials coordinator_;
  uint64_t coordinator_id_ = 0;
  uint16_t protocol_ = 0;            // That the coordinator speaks with this engine.
  std::unique_ptr<PortState> told_;  // By a new coordinator, until that is everything.
  uint64_t join_deadline_ms_ = 0;
  uint64_t retry_at_ms_ = 0;
  uint64_t stranger_look_at_ms_ = 0;
  bool is_stranger_told_ = false;    // Of this loss of the meeting place.
  uint64_t answer_deadline_ms_ = 0;  // Of what was asked; 0 = nothing was.
};

}  // namespace httpsys::sharing
