#pragma once
// The entry point for all inputs of one port, from JavaScript, links and time: passes each to this
// engine's present role, member or coordinator.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sharing/port_coordinator.h"
#include "sharing/port_membership.h"
#include "sharing/port_record.h"

namespace httpsys::sharing {

// A pure state machine: calls of JavaScript, frames and the time come in, frames and other effects
// go out. It has no thread, lock, socket or clock. Thread: one at a time.
class PortParticipant {
 public:
  // `effects` must outlive the object.
  PortParticipant(uint16_t number, peer::Member self, PortEffects* effects);

  // -- Inputs of JavaScript.

  // Must be called if this engine is the first on the port and has taken the meeting place, or
  // needs none. Afterwards this engine is the coordinator.
  void Found(uint64_t now_ms);
  // Registers prefixes. If it returns false, PortEffects::Complete() will report the result.
  bool Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms);
  // Unregisters prefixes. Returns false if nothing else is on the port. Otherwise returns true; if
  // gone.token is not 0, Complete() is called when every member applies the removal. `stays`: the
  // server keeps listening, even without prefixes.
  bool Unregister(const peer::Unregister& gone, bool stays, uint64_t now_ms);
  // Leaves the port if this engine has registered nothing on it.
  void Leave();
  void Reserve(const std::vector<std::string>& prefixes);
  // Adds a listening socket that a server accepts from. Returns 0 or a positive errno.
  int Contribute(const std::string& address, uint32_t server_id);
  // Must be called when a server stops accepting from the socket. Another server of the engine then
  // accepts from it; if there is none and no other member is on the port, the socket is removed.
  void Withdraw(const std::string& address);
  // Sets how much memory this process wants for its output cache; 0 = none. `limit` is how much all
  // members of the port may use together; 0 = the default.
  void WishCache(uint64_t bytes, uint64_t limit);
  // Returns the digest of a server's rules for requesting client certificates for a prefix.
  using TermsOf = std::function<std::string(const std::string& prefix)>;
  // Checks whether a server may have new terms (certificate rules). If not, sets `conflict`.
  void CheckTerms(uint32_t server_id, const TermsOf& terms_of, RegistrationResult* conflict);
  // Gives a server new terms (certificate rules), and informs the other members.
  void ApplyTerms(uint32_t server_id, const TermsOf& terms_of, uint64_t now_ms);

  // -- Inputs of links and time.

  // Must be called with each visitor of the meeting place. If it returns false, close the link.
  bool OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms);
  // Handles a frame. Returns false if the peer breaks the protocol: the link counts as broken then,
  // and the caller must close it.
  bool OnFrame(LinkId link, const peer::Frame& frame, const std::string& address, uint64_t now_ms);
  void OnBroken(LinkId link, uint64_t now_ms);
  // Must be called when a member reports that it doubts or has succeeded the coordinator (kDoubt).
  void OnDoubt(uint64_t now_ms);
  void OnApplied(const Applied& applied, uint64_t now_ms);
  void Tick(uint64_t now_ms);
  // True if Tick() must be called every few milliseconds.
  bool NeedsTicks() const;
  void TellTicketKeys() { coordinator_.TellTicketKeys(); }
  bool TellsTicketKeys() const { return is_coordinator_ && coordinator_.TellsTicketKeys(); }
  // Unregisters all prefixes of this engine before the engine ends.
  void SayGoodbye(uint64_t now_ms);

  // -- State.

  // True if this engine has left the port: close the links and call no further method.
  bool is_over() const { return is_over_; }
  bool is_coordinator() const { return is_coordinator_; }
  // True if this engine is the coordinator, or the coordinator has accepted it as a member.
  bool is_joined() const { return is_coordinator_ || membership_.is_joined(); }
  // The link to the coordinator; 0 = none.
  LinkId link() const { return membership_.link(); }
  // True if no other member is on the port or expected to come back.
  bool IsAlone() const;
  const PortRecord& record() const { return record_; }

 private:
  static bool SetTerms(peer::Register* registered, const TermsOf& terms_of);
  bool IsUnused() const;
  void ForgetOwn(const peer::Unregister& gone, bool stays);
  bool HasCached() const;
  void WishNothingIfUnused();
  void TakePlace(const PortSuccession::Victory& victory, uint64_t now_ms);
  void YieldIfSucceeded();
  void Settle(uint64_t now_ms);
  void End();

  std::vector<std::string> reserved_;  // The argument of the last Reserve().
  PortRecord record_;
  PortCoordinator coordinator_;
  PortMembership membership_;
  bool is_coordinator_ = false;
  bool is_over_ = false;
};

}  // namespace httpsys::sharing
