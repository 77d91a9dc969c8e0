#pragma once
// An index of registrations by properties that they have in common.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "peer/messages.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// One registered prefix of a port.
struct StateEntry {
  peer::Entry entry;
  UrlPrefix parsed;
  std::string key;  // Equal for prefixes that a request cannot tell apart.
  // Equal for prefixes that a ClientHello cannot tell apart; empty without TLS.
  std::string hello_key;
  uint64_t absent_until_ms = 0;  // Time until which the prefix waits for a server; 0 = it has one.
  uint64_t order = 0;            // Rises from entry to entry, in order of arrival.

  bool is_absent() const { return absent_until_ms != 0; }
  // True if the entry is absent and its owner has died, or its successor has not come in time.
  bool is_offline() const { return is_absent() && (entry.flags & peer::kEntryOffline) != 0; }
  bool IsOf(uint64_t member, uint32_t server_id) const {
    return entry.member == member && entry.server_id == server_id;
  }
};

// Returns true if a prefix with these flags is for IPv4 connections only: it is bound to an IPv4
// address, or registered for the IPv4 wildcard.
bool IsIpv4(const UrlPrefix& prefix, uint8_t flags);

// Parses a prefix and sets entry's `parsed` and keys. Returns false if it is none of this port.
bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry);

// Returns the key without the scheme: equal for prefixes that are one entry of a UrlPrefixTable.
inline std::string TableKeyOf(const StateEntry& entry) { return entry.key.substr(1); }

// Finds registrations by common properties, so that a change of the port need not look at every
// registration: a port may have many thousands. Points to entries of PortEntries.
class EntryIndex {
 public:
  using ByOrder = std::map<uint64_t, const StateEntry*>;
  using ServerId = std::pair<uint64_t, uint32_t>;  // Member and server.

  using Address = std::array<uint8_t, 16>;

  // The properties that decide, with the address, which registrations an entry conflicts with
  // (except for those of its own server and those with the same key). There are few kinds, each of
  // which may have entries at many thousands of addresses.
  struct Kind {
    bool is_absent = false;
    bool is_https = false;
    bool is_bound = false;  // The prefix is bound to one address.
    uint8_t flags = 0;      // peer::EntryFlags without kEntryOffline and kEntryCached.

    auto operator<=>(const Kind&) const = default;
  };
  using Servers = std::map<ServerId, ByOrder>;
  // Entries whose prefix is bound to no address are listed under address 0.
  using Addresses = std::map<Address, Servers>;
  using Kinds = std::map<Kind, Addresses>;

  // The entries of one server, in one queue, that no ClientHello can distinguish.
  using Sharers = std::map<std::tuple<uint64_t, uint32_t, std::string>, ByOrder>;
  using ByTerms = std::map<std::string, Sharers>;

  void Add(const StateEntry& entry);
  // Must be called before an entry changes; Add() must be called after the change.
  void Remove(const StateEntry& entry);
  void Clear() { *this = EntryIndex(); }

  const Kinds& kinds() const { return kinds_; }
  // Returns the servers with entries that are not absent, in the order of their first such entries.
  std::vector<ServerId> ServersInOrder() const;
  size_t server_count() const { return servers_.size(); }
  // True if all entries, absent ones included, belong to this server.
  bool HasOnly(const ServerId& server) const {
    return !has_absent() && servers_.size() == 1 && servers_.contains(server);
  }
  // True if an entry that is not absent has this queue.
  bool HasQueue(const std::string& queue) const { return queues_.contains(queue); }
  // True if there are entries with TLS, or (`is_https` false) without; absent ones count, too.
  bool HasScheme(bool is_https) const;
  // Returns the entries with this hello_key that are not absent, by the digest of their rules for
  // client certificates; nullptr = none.
  const ByTerms* FindHello(const std::string& hello_key) const;
  bool has_absent() const { return !expiries_.empty(); }
  // Returns the time at which the next absent entry expires.
  std::optional<uint64_t> NextExpiry() const;
  // Returns the absent entries that have expired, in the order in which they came.
  std::vector<const StateEntry*> DueAt(uint64_t now_ms) const;
  // A counter that rises whenever the result of ServersInOrder() changes.
  uint64_t server_changes() const { return server_changes_; }

 private:
  struct Server {
    size_t entries = 0;
    uint64_t since = 0;  // StateEntry::order of the server's first entry.
  };

  static Kind KindOf(const StateEntry& entry);
  static Address AddressOf(const StateEntry& entry);

  Kinds kinds_;
  std::map<ServerId, Server> servers_;
  std::map<std::string, size_t> queues_;
  std::map<std::string, ByTerms> hellos_;
  std::map<std::pair<uint64_t, uint64_t>, const StateEntry*> expiries_;  // By time and order.
  uint64_t server_changes_ = 0;
};

}  // namespace httpsys::sharing
