#pragma once
// Who has registered what on one port. Every member has a copy; the coordinator's counts.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_entries.h"
#include "sharing/port_rules.h"

namespace httpsys::sharing {

// Pure: no sockets, no threads, no clock.
class PortState {
 public:
  explicit PortState(uint16_t port) : port_(port) {}

  // Why these may not be registered; nothing is changed. EINVAL: not a prefix of this port. ENOSPC:
  // too many. ENOENT: the queue to attach to does not exist.
  std::optional<Conflict> Check(uint64_t member, const peer::Register& wanted) const;
  // Which prefix of others keeps a server from asking for certificates by these terms of a
  // registration that is there already.
  std::optional<Conflict> CheckTerms(uint64_t member, const peer::Register& changed) const;
  // The entries of a registration that may be, without those that are there already as they are.
  std::vector<peer::Entry> EntriesOf(uint64_t member, const peer::Register& wanted) const;

  // -- Changes, each idempotent. False: what a peer says makes no sense.

  bool AddMember(const peer::Member& member);
  // What it served and has not taken back is offline for a while, unless somebody shares it: those
  // entries are removed, and returned.
  std::vector<peer::EntryGone> RemoveMember(uint64_t id, uint64_t now_ms);
  // Takes the place of absent entries with the same prefix.
  bool AddEntry(const peer::Entry& entry, uint64_t now_ms);
  void RemoveEntry(const peer::EntryGone& gone);
  // There is an entry, absent or not, that requests cannot tell apart from one with this key.
  bool HasKey(const std::string& key) const { return entries_.HasKey(key); }
  bool HasPrefix(const std::string& text) const;
  // What is to be removed or told anew as absent when servers go.
  std::vector<StateEntry> EntriesOfServer(uint64_t member, uint32_t server_id) const;
  std::vector<StateEntry> EntriesOfMember(uint64_t member) const;
  // Entries whose time has run out: those of announced successors are offline then, others gone.
  struct Expired {
    std::vector<peer::Entry> offline;
    std::vector<peer::EntryGone> gone;

    bool empty() const { return offline.empty() && gone.empty(); }
  };
  Expired Expire(uint64_t now_ms);

  const std::map<uint64_t, peer::Member>& members() const { return members_; }
  const PortEntries& entries() const { return entries_; }
  std::optional<uint64_t> NextExpiry() const;
  // Where connections come from somebody who is no member, as text; each once.
  std::vector<std::string> FedAddresses() const;
  void Clear();

 private:
  static void SetOffline(StateEntry* entry, uint64_t now_ms);

  uint16_t port_;
  std::map<uint64_t, peer::Member> members_;
  PortEntries entries_;
};

}  // namespace httpsys::sharing
