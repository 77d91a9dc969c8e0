#pragma once
// What an engine knows of one port and wants there, as member or coordinator.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/messages.h"
#include "sharing/own_registrations.h"
#include "sharing/port_effects.h"
#include "sharing/port_routing.h"
#include "sharing/port_state.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// The data of the state machines, with what both parts do with it. Thread: one at a time.
class PortRecord {
 public:
  // Prefixes that were taken back, kept until every member is known to have heard of it.
  struct Removal {
    peer::Unregister gone;
    uint64_t since_ms = 0;
    // The present coordinator was told, or all members if this engine coordinates.
    bool is_told = false;
  };

  struct Socket {
    std::string address;
    uint32_t accepted_by = 0;  // The server of this engine that accepts from the socket; 0 = none.
  };

  // An entry that RemoveEntries() has removed, or has left as absent.
  struct Change {
    peer::Entry entry;
    bool is_absent = false;
  };

  // A removal that has to be told now. Token 0 = nobody waits for the answer.
  struct Untold {
    uint32_t token = 0;
    peer::Unregister gone;
    std::vector<Change> changes;
  };

  // `self` describes this engine to the others.
  PortRecord(uint16_t number, peer::Member self, PortEffects* effects)
      : number(number),
        self(std::move(self)),
        state(number),
        effects(effects),
        routing_(number, this->self.id) {}
  PortRecord(const PortRecord&) = delete;
  PortRecord& operator=(const PortRecord&) = delete;

  // True if nothing is registered for this engine and nothing is being registered.
  bool WantsNothing() const { return own.empty() && queued.empty() && asked.empty(); }
  uint32_t PidOf(uint64_t member) const;
  void Publish(std::optional<Applied> applied = {});
  // Replaces the reserved prefixes, and publishes them.
  void Reserve(std::vector<UrlPrefix> prefixes);
  // Removes entries of a server. If gone.wait_ms is set and no other server has the prefix, the entry
  // stays and is absent: its requests wait that long for a new owner.
  std::vector<Change> RemoveEntries(uint64_t member, const peer::Unregister& gone, uint64_t now_ms);
  // Returns the removals that the present coordinator (perhaps this engine) does not know of, among
  // them entries that others attribute to this engine by mistake. They count as told from here on.
  std::vector<Untold> TakeUntold(uint64_t now_ms);
  // Tells JavaScript that everybody knows of a removal, or that nobody is left who could say so.
  void CompleteRemoval(uint32_t token);
  void CompleteRemovals();
  // Completes the removals that nobody has confirmed for `after_ms`.
  void GiveUpRemovals(uint64_t now_ms, uint64_t after_ms);
  // Fails all registrations that were not granted.
  void FailAll(const RegistrationResult& why);
  void AddOwn(peer::Register registered);
  // The coordinator has this engine's entry: what was lost before is granted again.
  void NoteGranted(const peer::Entry& entry);
  // The coordinator lets the process use so much for its cache.
  void TakeGrant(uint64_t bytes);
  // Makes sure that a server of this engine accepts from each of the port's sockets: the process
  // that opened one may have died.
  void EnsureAccepted();
  // Adds a listening socket by its address. Returns false if it is known, or there are too many.
  bool AddSocket(const std::string& address);
  // Calls `use` with every registration of a server, granted or not.
  void ForRegistrations(uint32_t server_id, const std::function<void(peer::Register*)>& use);

  const uint16_t number;
  const peer::Member self;
  PortState state;
  std::vector<Socket> sockets;
  peer::CacheWish cache;  // What this engine wants for the cache of its process, and may use.
  OwnRegistrations own;
  std::vector<peer::Register> queued;  // Registrations that wait for a coordinator.
  // Registrations on which the coordinator decides, by token.
  std::map<uint32_t, peer::Register> asked;
  std::map<uint32_t, Removal> removals;  // Removals, by token.
  bool has_joined = false;  // This engine has been on the port, as member or coordinator.
  // Others may have had a coordinator whose state this engine has not: it has met one that has told
  // nothing yet, or has been one that was succeeded.
  bool is_outdated = false;
  // Valid with is_outdated: the one that it has met was no remainder of `lost`. A killed process
  // lets others come in until the system has closed all of its sockets.
  bool has_met_another = false;
  // The coordinator whose end this engine has seen last, as its member.
  struct Lost {
    uint64_t id = 0;  // 0 = there is none.
    uint32_t pid = 0;
  };
  Lost lost;
  bool has_failed = false;  // A registration was refused since the participant has looked.
  bool has_completed_removal = false;  // A removal was completed since the participant has looked.
  PortEffects* const effects;

 private:
  std::vector<peer::Unregister> StaleEntries() const;

  PortRouting routing_;
};

}  // namespace httpsys::sharing
