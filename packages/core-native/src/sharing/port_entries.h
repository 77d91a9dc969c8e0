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

struct StateEntry {
  peer::Entry entry;
  UrlPrefix parsed;
  std::string key;               // Equal for prefixes that requests cannot tell apart.
  std::string hello_key;         // Equal for those that no ClientHello can; empty without TLS.
  uint64_t absent_until_ms = 0;  // 0 = its server is there.

  bool is_absent() const { return absent_until_ms != 0; }
  // Absent, and nobody waits for it: its owner has died, or its successor has not come in time.
  bool is_offline() const { return is_absent() && (entry.flags & peer::kEntryOffline) != 0; }
  bool IsOf(uint64_t member, uint32_t server_id) const {
    return entry.member == member && entry.server_id == server_id;
  }
};

// Of a prefix with these flags: whether its connections come to an IPv4 address, or may.
bool IsIpv4(const UrlPrefix& prefix, uint8_t flags);

// False when this is no prefix of that port. Fills in all but `entry` and `absent_until_ms`.
bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry);

// Registrations in the order in which they came. A port has up to limits::kEntriesMax of them, and
// a member may bring all at once: whatever is asked for each of them is found by an index.
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
  // Calls `use` for each; those of one host come together, and by path.
  template <typename Use>
  void ForEachByKey(const Use& use) const {
    for (const auto& [key, at] : by_key_) use(std::as_const(*at));
  }

  // -- Some of them.

  const StateEntry* Find(uint64_t member, uint32_t server_id, uint32_t prefix_id) const;
  // The first one with that key for which `is_meant`, or null.
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

  // No other one has its member, server and number of the prefix.
  void Add(StateEntry entry);
  void Remove(const StateEntry* entry);
  // Removes those for which `is_meant`, which may change of the others what no index is made of:
  // flags and absence.
  template <typename IsMeant>
  void RemoveIf(const IsMeant& is_meant) {
    for (auto i = list_.begin(); i != list_.end();) {
      const auto at = i++;
      if (is_meant(*at)) Remove(&*at);
    }
  }
  void Clear();

 private:
  using Id = std::tuple<uint64_t, uint32_t, uint32_t>;  // Member, server, number of the prefix.

  static Id IdOf(const StateEntry& entry) {
    return {entry.entry.member, entry.entry.server_id, entry.entry.prefix_id};
  }

  // The indexes point into the list, whose entries stay where they are, also when it is moved.
  List list_;
  std::map<Id, List::iterator> by_id_;
  std::multimap<std::string_view, List::iterator> by_key_;
};

}  // namespace httpsys::sharing
