#pragma once
// The state of one port: members and registrations. Every member has a copy of the coordinator's.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/messages.h"
#include "sharing/port_entries.h"
#include "sharing/port_rules.h"

namespace httpsys::sharing {

// Pure: has no sockets, threads or clock.
class PortState {
 public:
  explicit PortState(uint16_t port) : port_(port) {}

  // Returns why the prefixes cannot be registered, or nothing. EINVAL: no prefix of this port.
  // ENOSPC: too many. ENOENT: the queue to attach to does not exist. EADDRINUSE: any other
  // conflict.
  std::optional<Conflict> Check(uint64_t member, const peer::Register& wanted) const;
  // Returns a conflict with another server's prefix that forbids a registration's new terms.
  std::optional<Conflict> CheckTerms(uint64_t member, const peer::Register& changed) const;
  // Returns the entries that a registration adds or changes.
  std::vector<peer::Entry> EntriesOf(uint64_t member, const peer::Register& wanted) const;

  // -- Changes. Each is idempotent, and returns false for invalid data of another member.

  bool AddMember(const peer::Member& member);
  // Removes a member. Its prefixes are offline for a while. Prefixes that another owner shares are
  // removed and returned instead, together with absent entries of the same prefixes.
  std::vector<peer::EntryGone> RemoveMember(uint64_t id, uint64_t now_ms);
  // Adds or replaces an entry. It also replaces absent entries with the same key. Returns false if
  // the entry is for no prefix of the port, or there are too many.
  bool AddEntry(const peer::Entry& entry, uint64_t now_ms);
  void RemoveEntry(const peer::EntryGone& gone);
  std::optional<peer::EntryGone> RemoveOwner(uint64_t member, const std::string& prefix);
  // Removes the absent entries with the keys of a registration, and returns them.
  std::vector<peer::EntryGone> RemoveAbsent(const peer::Register& registered);
  // True if an entry, absent or not, has this key.
  bool HasKey(const std::string& key) const { return entries_.HasKey(key); }
  bool HasPrefix(const std::string& text) const;
  // True if an entry with this key waits for a successor, is offline at least until about
  // `until_ms`, or is present and `is_believed` returns true for it.
  using IsBelieved = std::function<bool(const StateEntry&)>;
  bool IsExpected(const std::string& key, uint64_t until_ms, const IsBelieved& is_believed) const;
  // Returns copies of the entries of a server, or of a member, by prefix id.
  std::vector<StateEntry> EntriesOfServer(uint64_t member, uint32_t server_id) const;
  std::vector<StateEntry> EntriesOfMember(uint64_t member) const;
  // Expired entries: those whose successor did not come are offline now; offline ones were removed.
  struct Expired {
    std::vector<peer::Entry> offline;
    std::vector<peer::EntryGone> gone;

    bool empty() const { return offline.empty() && gone.empty(); }
  };
  Expired Expire(uint64_t now_ms);

  const std::map<uint64_t, peer::Member>& members() const { return members_; }
  // The number of members that have left so far. Clear() counts all members as left.
  uint64_t departures() const { return departures_; }
  const PortEntries& entries() const { return entries_; }
  // The entries for PortRouting, which calls TakeChanges().
  PortEntries* entries_to_follow() { return &entries_; }
  std::optional<uint64_t> NextExpiry() const { return entries_.index().NextExpiry(); }
  // The addresses whose connections another program (a cluster's primary) distributes, as text.
  std::vector<std::string> FedAddresses() const;
  // Must be called when this state replaces `before`. Counts one more departure, because members
  // may have left unnoticed in between.
  void Succeed(const PortState& before) { departures_ += before.departures_ + 1; }
  void Clear();

 private:
  bool IsServed(const std::string& key, uint64_t except) const;

  uint16_t port_;
  std::map<uint64_t, peer::Member> members_;
  uint64_t departures_ = 0;
  PortEntries entries_;
};

}  // namespace httpsys::sharing
