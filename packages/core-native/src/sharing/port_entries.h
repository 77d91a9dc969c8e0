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

#include "sharing/entry_index.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

// The registrations, in order of arrival. A port has up to limits::kEntriesMax of them, and every
// member handles each change: so no operation that a change needs looks at all of them.
class PortEntries {
 public:
  using List = std::list<StateEntry>;

  // Prefixes whose entries have changed, by TableKeyOf().
  struct Changes {
    bool is_all = true;  // Any prefix may have changed or gone; `prefixes` says nothing.
    std::map<std::string, UrlPrefix> prefixes;
  };

  PortEntries() = default;
  PortEntries(PortEntries&&) = default;
  PortEntries& operator=(PortEntries&&) = default;

  // -- All entries.

  List::const_iterator begin() const { return list_.begin(); }
  List::const_iterator end() const { return list_.end(); }
  const StateEntry& front() const { return list_.front(); }
  const StateEntry& back() const { return list_.back(); }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const EntryIndex& index() const { return index_; }

  // -- Some entries.

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
  // Calls `use` with each entry that has this TableKeyOf(), entries without TLS first.
  template <typename Use>
  void ForEachOfTableKey(const std::string& table_key, const Use& use) const {
    for (const char scheme : {'-', 's'}) {
      const std::string key = scheme + table_key;
      const auto [first, last] = by_key_.equal_range(key);
      for (auto i = first; i != last; ++i) use(std::as_const(*i->second));
    }
  }
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
  // Makes the entry absent until `until_ms`. `is_offline`: no successor is expected.
  void SetAbsent(const StateEntry* entry, uint64_t until_ms, bool is_offline);
  void Clear();
  // Returns the changes since the last call; is_all at the first call.
  Changes TakeChanges();

 private:
  using Id = std::tuple<uint64_t, uint32_t, uint32_t>;  // Member, server, prefix id.

  static Id IdOf(const StateEntry& entry) {
    return {entry.entry.member, entry.entry.server_id, entry.entry.prefix_id};
  }
  void NoteChange(const StateEntry& entry);

  // The indexes point into the list: entries must keep their addresses, even if the list is moved.
  List list_;
  std::map<Id, List::iterator> by_id_;
  std::multimap<std::string_view, List::iterator> by_key_;
  EntryIndex index_;
  uint64_t last_order_ = 0;
  Changes changes_;
};

}  // namespace httpsys::sharing
