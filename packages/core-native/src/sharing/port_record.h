#pragma once
// An engine's data about one port: the port's state, and the engine's own registrations there.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_effects.h"
#include "sharing/port_routing.h"
#include "sharing/port_state.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// The registrations that this engine has been granted on one port.
// Granted registrations, by server and in order of arrival. A server may listen without any prefix.
// A server that adds its prefixes one by one has thousands of registrations; Forget() and
// FindOfPrefix() look at only one for each prefix.
class OwnRegistrations {
 public:
  bool empty() const { return servers_.empty(); }
  size_t server_count() const { return servers_.size(); }
  bool HasServer(uint32_t server_id) const { return servers_.contains(server_id); }
  // Returns the server with the lowest id. Must be called only if there is one.
  uint32_t first_server() const { return servers_.begin()->first; }
  // True if a server listens without any prefix.
  bool HasIdle() const { return idle_count_ != 0; }
  // Returns the registration of a prefix, or nullptr.
  peer::Register* FindOfPrefix(uint32_t server_id, uint32_t prefix_id);
  template <typename Use>
  void ForEach(const Use& use) {
    for (auto& [server_id, server] : servers_) {
      for (auto& [number, registered] : server.list) use(registered);
    }
  }
  template <typename Use>
  void ForEach(const Use& use) const {
    for (const auto& [server_id, server] : servers_) {
      for (const auto& [number, registered] : server.list) use(registered);
    }
  }
  template <typename Use>
  void ForEachServer(const Use& use) const {
    for (const auto& [server_id, server] : servers_) use(server_id);
  }
  template <typename Use>
  void ForEachOf(uint32_t server_id, const Use& use) {
    const auto found = servers_.find(server_id);
    if (found == servers_.end()) return;
    for (auto& [number, registered] : found->second.list) use(registered);
  }

  void Add(peer::Register registered);
  // Removes unregistered prefixes, and the server if it has none left and `stays` is false.
  void Forget(const peer::Unregister& gone, bool stays);

 private:
  struct Server {
    std::map<uint64_t, peer::Register> list;
    std::unordered_map<uint32_t, uint64_t> by_prefix;  // Prefix ids to keys of `list`.
  };

  static void ForgetPrefix(Server* server, uint32_t prefix_id);

  std::map<uint32_t, Server> servers_;
  uint64_t last_number_ = 0;
  size_t idle_count_ = 0;
};

// The data of a port's state machines, and the operations that the roles member and coordinator
// share. Thread: one at a time.
class PortRecord {
 public:
  // A removal of this engine's prefixes, kept until every member is known to apply it.
  struct Removal {
    peer::Unregister gone;
    uint64_t since_ms = 0;
    // The present coordinator knows of the removal; if this engine coordinates, all members do.
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

  // A removal of which the present coordinator must be informed. Token 0 = no caller waits for it.
  struct Untold {
    uint32_t token = 0;
    peer::Unregister gone;
    std::vector<Change> changes;
  };

  // `self` describes this engine to other members.
  PortRecord(uint16_t number, peer::Member self, PortEffects* effects)
      : number(number),
        self(std::move(self)),
        state(number),
        effects(effects),
        routing_(number, this->self.id) {}
  PortRecord& operator=(PortRecord&&) = delete;

  // True if this engine has registered nothing and is registering nothing.
  bool WantsNothing() const { return own.empty() && queued.empty() && asked.empty(); }
  uint32_t PidOf(uint64_t member) const;
  void Publish(std::optional<Applied> applied = {});
  // Replaces the reserved prefixes, and publishes them.
  void Reserve(std::vector<UrlPrefix> prefixes);
  // Removes entries of a server. If gone.wait_ms is set and no other server has the prefix, the
  // entry stays and is absent: its requests wait that long for a new owner.
  std::vector<Change> RemoveEntries(uint64_t member, const peer::Unregister& gone, uint64_t now_ms);
  // Returns the removals that the present coordinator (perhaps this engine) does not know,
  // including entries that other members attribute to this engine by mistake. Marks the removals as
  // told.
  std::vector<Untold> TakeUntold(uint64_t now_ms);
  // Reports to JavaScript that every member applies a removal, or no member is left to confirm it.
  void CompleteRemoval(uint32_t token);
  void CompleteRemovals();
  // Completes the removals that were not confirmed within `after_ms`.
  void GiveUpRemovals(uint64_t now_ms, uint64_t after_ms);
  // Fails all registrations that were not granted.
  void FailAll(const RegistrationResult& why);
  void AddOwn(peer::Register registered);
  // Must be called when the coordinator sends this engine's entry: it grants a lost registration
  // again.
  void NoteGranted(const peer::Entry& entry);
  // Limits the output cache of this process to what the coordinator grants; UINT64_MAX = no limit.
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
  // The memory that this engine wants, and may use, for the output cache of its process.
  peer::CacheWish cache;
  OwnRegistrations own;
  std::vector<peer::Register> queued;  // Registrations that wait for a coordinator.
  // Registrations on which the coordinator decides, by token.
  std::map<uint32_t, peer::Register> asked;
  std::map<uint32_t, Removal> removals;  // By token.
  bool has_joined = false;  // This engine has been on the port, as member or coordinator.
  // True if other members may know more than `state`: this engine has found a coordinator that has
  // not sent its state yet, or was itself a coordinator that was succeeded.
  bool is_outdated = false;
  // Valid with is_outdated: true if the coordinator that was found is another process than `lost`.
  // (A killed process accepts links until the system has closed all of its sockets.)
  bool has_met_another = false;
  // The last coordinator whose end this engine has seen while it was a joined member.
  struct Lost {
    uint64_t id = 0;  // 0 = there is none.
    uint32_t pid = 0;
  };
  Lost lost;
  // Set when registrations are refused or dropped; cleared by PortParticipant.
  bool has_failed = false;
  // Set when a removal is complete; cleared by PortParticipant.
  bool has_completed_removal = false;
  PortEffects* const effects;

 private:
  std::vector<peer::Unregister> StaleEntries() const;

  PortRouting routing_;
};

}  // namespace httpsys::sharing
