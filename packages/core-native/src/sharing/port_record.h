#pragma once
// What an engine knows of one port and wants there, whichever part it plays: coordinator or member.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_effects.h"
#include "sharing/port_state.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// A pure state machine's data, with what both parts do with it. One thread at a time.
class PortRecord {
 public:
  // Prefixes that were taken back, until every member is known to have heard of it.
  struct Removal {
    peer::Unregister gone;
    uint64_t since_ms = 0;
    bool is_told = false;  // To the present coordinator, or to all if this engine coordinates.
  };

  struct Socket {
    std::string address;
    uint32_t accepted_by = 0;  // A server of this engine, or 0.
  };

  // An entry that RemoveEntries() has removed, or left behind as absent.
  struct Change {
    peer::Entry entry;
    bool is_absent = false;
  };

  // A removal that has to be told now. Token 0: nobody waits for the answer.
  struct Untold {
    uint32_t token = 0;
    peer::Unregister gone;
    std::vector<Change> changes;
  };

  // `self` is this engine as others see it.
  PortRecord(uint16_t number, peer::Member self, PortEffects* effects)
      : number(number), self(std::move(self)), state(number), effects(effects) {}
  PortRecord(const PortRecord&) = delete;
  PortRecord& operator=(const PortRecord&) = delete;

  // Nothing is registered here, and nothing is about to be.
  bool WantsNothing() const { return own.empty() && queued.empty() && asked.empty(); }
  uint32_t PidOf(uint64_t member) const;
  void Publish(std::optional<Applied> applied = {});
  // Removes entries of a server, or leaves them behind as absent until its successor comes.
  std::vector<Change> RemoveEntries(uint64_t member, const peer::Unregister& gone, uint64_t now_ms);
  // What the present coordinator, perhaps this engine, does not know to be taken back: removals,
  // and entries that others take for this engine's and are not. They count as told from here on.
  std::vector<Untold> TakeUntold(uint64_t now_ms);
  // JavaScript hears that everybody knows, or that nobody is left who could say so.
  void CompleteRemoval(uint32_t token);
  void CompleteRemovals();
  // Gives up those that nobody has confirmed for so long.
  void GiveUpRemovals(uint64_t now_ms, uint64_t after_ms);
  // All that was asked for and not granted fails.
  void FailAll(const RegistrationResult& why);
  void AddOwn(peer::Register registered);
  // Connections that wait on any of the port's sockets are everybody's: who opened it may have
  // died.
  void EnsureAccepted();
  // A listening socket of the port, by its address. False where it is known, or one too many.
  bool AddSocket(const std::string& address);
  // Calls `use` with what a server has registered, or is about to.
  void ForRegistrations(uint32_t server_id, const std::function<void(peer::Register*)>& use);

  const uint16_t number;
  const peer::Member self;
  PortState state;
  std::vector<Socket> sockets;
  std::vector<UrlPrefix> reserved;
  // By server; empty lists are of those that have lost their prefixes and listen on.
  std::map<uint32_t, std::vector<peer::Register>> own;
  std::vector<peer::Register> queued;        // Until there is a coordinator.
  std::map<uint32_t, peer::Register> asked;  // Of the coordinator, by token.
  std::map<uint32_t, Removal> removals;      // By token.
  bool has_joined = false;                   // Once.
  bool has_completed_removal = false;        // Since the participant has looked.
  PortEffects* const effects;

 private:
  std::vector<peer::Unregister> StaleEntries() const;
};

}  // namespace httpsys::sharing
