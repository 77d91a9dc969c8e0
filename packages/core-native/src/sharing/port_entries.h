#pragma once
// The registrations of one port.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "peer/messages.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// One registered prefix.
struct StateEntry {
  peer::Entry entry;
  UrlPrefix parsed;
  std::string key;  // The same for prefixes that a request cannot tell apart.
  // The same for prefixes that a ClientHello cannot tell apart; empty without TLS.
  std::string hello_key;
  uint64_t absent_until_ms = 0;  // Until when the prefix waits for a server; 0 = it has its server.

  bool is_absent() const { return absent_until_ms != 0; }
  // True if the entry is absent and nobody is expected: its owner has died, or its successor has
  // not come in time.
  bool is_offline() const { return is_absent() && (entry.flags & peer::kEntryOffline) != 0; }
  bool IsOf(uint64_t member, uint32_t server_id) const {
    return entry.member == member && entry.server_id == server_id;
  }
};

// Returns true if a prefix with these flags is for IPv4 connections only: it is bound to an IPv4
// address, or registered for the IPv4 wildcard.
bool IsIpv4(const UrlPrefix& prefix, uint8_t flags);

// Parses a prefix. Returns false if it is no prefix of that port. Sets all members but `entry` and
// `absent_until_ms`.
bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry);

// The registrations, in the order in which they came. A port has up to limits::kEntriesMax of them,
// and a member may register all at once: so everything that is asked per entry is found by an
// index.
class PortEntries {
 public:
  using List = std::list<StateEntry>;

  PortEntries() = default;
  PortEntries(PortEntries&&) = default;
  PortEntries& operator=(PortEntries&&) = default;

  // -- All of them.

  List::const_iterator begin() const { return list_.begin(); }
  List::const_iterator end() const { return list_.end(); }
  const StateEntry& front() const { return list_.front(); }
  const StateEntry& back() const { return list_.back(); }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  // Calls `use` for each entry in the order of the keys: by host, then by path.
  template <typename Use>
  void ForEachByKey(const Use& use) const {
    for (const auto& [key, at] : by_key_) use(std::as_const(*at));
  }

  // -- Some of them.

  const StateEntry* Find(uint64_t member, uint32_t server_id, uint32_t prefix_id) const;
  // Returns the first entry with that key for which `is_meant` returns true, or nullptr.
  template <typename IsMeant>
  const StateEntry* FindKey(const std::string& key, const IsMeant& is_meant) const {
    const auto [first, last] = by_key_.equal_range(key);
    for (auto i = first; i != last; ++i) {
      if (is_meant(std::as_const(*i->second))) return &*i->second;
    }
    return nullptr;
  }
  bool HasKey(const std::string& key) const { return by_key_.contains(key); }
  template <typename Use>
  void ForEachOfServer(uint64_t member, uint32_t server_id, const Use& use) const {
    for (auto i = by_id_.lower_bound({member, server_id, 0});
         i != by_id_.end() && i->second->IsOf(member, server_id); ++i) {
      use(std::as_const(*i->second));
    }
  }
  template <typename Use>
  void ForEachOfMember(uint64_t member, const Use& use) const {
    for (auto i = by_id_.lower_bound({member, 0, 0});
         i != by_id_.end() && i->second->entry.member == member; ++i) {
      use(std::as_const(*i->second));
    }
  }

  // -- Changes.

  // Adds an entry. No other entry may have the same member, server and prefix id.
  void Add(StateEntry entry);
  void Remove(const StateEntry* entry);
  // Removes the entries for which `is_meant` returns true. It may change flags and absence of the
  // others, of which there is no index.
  template <typename IsMeant>
  void RemoveIf(const IsMeant& is_meant) {
    for (auto i = list_.begin(); i != list_.end();) {
      const auto at = i++;
      if (is_meant(*at)) Remove(&*at);
    }
  }
  void Clear();

 private:
  using Id = std::tuple<uint64_t, uint32_t, uint32_t>;  // Member, server, prefix id.

  static Id IdOf(const StateEntry& entry) {
    return {entry.entry.member, entry.entry.server_id, entry.entry.prefix_id};
  }

  // The indexes point into the list: its entries stay where they are, also if the list is moved.
  List list_;
  std::map<Id, List::iterator> by_id_;
  std::multimap<std::string_view, List::iterator> by_key_;
};

}  // namespace httpsys::sharing
