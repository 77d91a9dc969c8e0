#pragma once
// This engine's part on one port: what JavaScript wants of it, and which of the two parts, member
// or coordinator, it plays.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sharing/port_coordinator.h"
#include "sharing/port_membership.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine: calls of JavaScript, frames and the time come in, frames and other effects
// go out. It has no thread, lock, socket or clock. One thread at a time.
class PortParticipant {
 public:
  // `effects` outlives it.
  PortParticipant(uint16_t number, peer::Member self, PortEffects* effects);

  // -- Inputs of JavaScript.

  // This engine has taken the meeting place, as the first one, or needs none.
  void Found(uint64_t now_ms);
  // True when the result is there at once; otherwise Complete() follows.
  bool Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms);
  // False: nobody else is on the port. Otherwise, with a token, Complete() follows when everybody
  // knows. `stays`: the server listens on, with what it has left or without any prefix.
  bool Unregister(const peer::Unregister& gone, bool stays, uint64_t now_ms);
  // Gives the port back if nothing was registered on it.
  void Leave();
  void Reserve(const std::vector<std::string>& prefixes);
  // A listening socket that a server accepts on. 0, or a positive errno.
  int Contribute(const std::string& address, uint32_t server_id);
  // The server accepts on it no more: others do, unless it is nobody's.
  void Withdraw(const std::string& address);
  // By what digest a server's clients are asked for certificates at a prefix.
  using TermsOf = std::function<std::string(const std::string& prefix)>;
  // What is in the way of new terms; nothing changes.
  void CheckTerms(uint32_t server_id, const TermsOf& terms_of, RegistrationResult* conflict);
  void ApplyTerms(uint32_t server_id, const TermsOf& terms_of, uint64_t now_ms);

  // -- Inputs of links and time.

  // Somebody has come to the meeting place. False: not to be let in.
  bool OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms);
  // False: the peer speaks nonsense. The link counts as broken then, and is the caller's to close.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  void OnApplied(const Applied& applied, uint64_t now_ms);
  void Tick(uint64_t now_ms);
  // Ticks are due every few milliseconds.
  bool NeedsTicks() const;
  void TellTicketKeys() { coordinator_.TellTicketKeys(); }
  bool TellsTicketKeys() const { return is_coordinator_ && coordinator_.TellsTicketKeys(); }
  // This engine ends in order: its prefixes are nobody's from here on.
  void SayGoodbye(uint64_t now_ms);

  // -- What it is.

  // The port is given back: nothing is called any more, and its links are the caller's to close.
  bool is_over() const { return is_over_; }
  bool is_coordinator() const { return is_coordinator_; }
  // This engine coordinates, or its coordinator knows it.
  bool is_joined() const { return is_coordinator_ || membership_.is_joined(); }
  // The one to the coordinator, or 0.
  LinkId link() const { return membership_.link(); }
  // Nobody else is on the port, or to be expected.
  bool IsAlone() const;
  const PortRecord& record() const { return record_; }

 private:
  static bool SetTerms(peer::Register* registered, const TermsOf& terms_of);
  bool IsUnused() const;
  void ForgetOwn(const peer::Unregister& gone, bool stays);
  void TakePlace(uint64_t now_ms);
  void Settle(uint64_t now_ms);
  void End();

  PortRecord record_;
  PortCoordinator coordinator_;
  PortMembership membership_;
  bool is_coordinator_ = false;
  bool is_over_ = false;
};

}  // namespace httpsys::sharing
