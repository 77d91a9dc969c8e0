#include "sharing/port_entries.h"

#include "base/limits.h"

namespace httpsys::sharing {

const StateEntry* PortEntries::Find(uint64_t member, uint32_t server_id, uint32_t prefix_id) const {
  const auto found = by_id_.find({member, server_id, prefix_id});
  return found == by_id_.end() ? nullptr : &*found->second;
}

void PortEntries::Add(StateEntry entry) {
  entry.order = ++last_order_;
  const auto at = list_.insert(list_.end(), std::move(entry));
  by_id_.emplace(IdOf(*at), at);
  by_key_.emplace(at->key, at);
  index_.Add(*at);
  NoteChange(*at);
}

void PortEntries::Remove(const StateEntry* entry) {
  NoteChange(*entry);
  index_.Remove(*entry);
  const auto found = by_id_.find(IdOf(*entry));
  const List::iterator at = found->second;
  by_id_.erase(found);
  const auto [first, last] = by_key_.equal_range(at->key);
  for (auto i = first; i != last; ++i) {
    if (i->second != at) continue;
    by_key_.erase(i);
    break;
  }
  list_.erase(at);
}

void PortEntries::SetAbsent(const StateEntry* entry, uint64_t until_ms, bool is_offline) {
  StateEntry& changed = *by_id_.find(IdOf(*entry))->second;
  index_.Remove(changed);
  changed.absent_until_ms = until_ms;
  if (is_offline) changed.entry.flags |= peer::kEntryOffline;
  index_.Add(changed);
  NoteChange(changed);
}

void PortEntries::Clear() {
  index_.Clear();
  by_key_.clear();
  by_id_.clear();
  list_.clear();
  changes_ = {};
}

// After too many changes since the last TakeChanges(), counts everything as changed (is_all).
void PortEntries::NoteChange(const StateEntry& entry) {
  if (changes_.is_all) return;
  changes_.prefixes.emplace(TableKeyOf(entry), entry.parsed);
  if (changes_.prefixes.size() > limits::kEntriesMax) changes_ = {};
}

PortEntries::Changes PortEntries::TakeChanges() {
  return std::exchange(changes_, Changes{.is_all = false, .prefixes = {}});
}

}  // namespace httpsys::sharing
