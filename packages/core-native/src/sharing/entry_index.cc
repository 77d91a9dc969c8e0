#include "sharing/entry_index.h"

#include <algorithm>

#include "url/url_path.h"

namespace httpsys::sharing {
namespace {

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
}

// Returns the properties of a prefix that a ClientHello can show: its host, or only the address of
// the connection. A ClientHello cannot distinguish prefixes with the same key.
std::string HelloKeyOf(const UrlPrefix& prefix) {
  if (!prefix.is_https) return {};
  const bool is_wildcard =
      prefix.host_kind == HostKind::kStrongWildcard || prefix.host_kind == HostKind::kWeakWildcard;
  const HostKind kind = is_wildcard ? HostKind::kWeakWildcard : prefix.host_kind;
  std::string key = {static_cast<char>('0' + static_cast<int>(kind)),
                     prefix.is_subdomain_wildcard ? '*' : '-'};
  key.append(prefix.ip.begin(), prefix.ip.end());
  return key.append(Folded(prefix.host));
}

}  // namespace

bool IsIpv4(const UrlPrefix& prefix, uint8_t flags) {
  if (prefix.host_kind != HostKind::kIpBound) return (flags & peer::kEntryIpv4) != 0;
  return IsIpv4Mapped(prefix.ip);
}

bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry) {
  UrlPrefix& parsed = entry->parsed;
  if (ParseUrlPrefix(prefix, &parsed) != PrefixError::kNone || parsed.port != port) return false;
  entry->key = {parsed.is_https ? 's' : '-', static_cast<char>('0' + int(parsed.host_kind)),
                parsed.is_subdomain_wildcard ? '*' : '-'};
  entry->key.append(parsed.ip.begin(), parsed.ip.end());
  entry->key.append(Folded(parsed.host)).append(Folded(parsed.path));
  entry->hello_key = HelloKeyOf(parsed);
  return true;
}

EntryIndex::Kind EntryIndex::KindOf(const StateEntry& entry) {
  Kind kind;
  kind.is_absent = entry.is_absent();
  kind.is_https = entry.parsed.is_https;
  kind.is_bound = entry.parsed.host_kind == HostKind::kIpBound;
  constexpr uint8_t kOfNoKind = peer::kEntryOffline | peer::kEntryCached;
  kind.flags = entry.entry.flags & static_cast<uint8_t>(~kOfNoKind);
  return kind;
}

EntryIndex::Address EntryIndex::AddressOf(const StateEntry& entry) {
  return entry.parsed.host_kind == HostKind::kIpBound ? entry.parsed.ip : Address{};
}

void EntryIndex::Add(const StateEntry& entry) {
  const peer::Entry& told = entry.entry;
  const ServerId server_id{told.member, told.server_id};
  kinds_[KindOf(entry)][AddressOf(entry)][server_id].emplace(entry.order, &entry);
  if (entry.is_absent()) {
    expiries_.emplace(std::pair{entry.absent_until_ms, entry.order}, &entry);
    return;
  }
  Server& server = servers_[server_id];
  if (server.entries++ == 0) {
    server.since = entry.order;
    ++server_changes_;
  }
  ++queues_[told.queue];
  if (entry.hello_key.empty()) return;
  hellos_[entry.hello_key][told.terms][{told.member, told.server_id, told.queue}].emplace(
      entry.order, &entry);
}

void EntryIndex::Remove(const StateEntry& entry) {
  const peer::Entry& told = entry.entry;
  const ServerId server_id{told.member, told.server_id};
  const auto kind = kinds_.find(KindOf(entry));
  const auto address = kind->second.find(AddressOf(entry));
  const auto there = address->second.find(server_id);
  there->second.erase(entry.order);
  if (there->second.empty()) address->second.erase(there);
  if (address->second.empty()) kind->second.erase(address);
  if (kind->second.empty()) kinds_.erase(kind);
  if (entry.is_absent()) {
    expiries_.erase({entry.absent_until_ms, entry.order});
    return;
  }
  const auto server = servers_.find(server_id);
  if (--server->second.entries == 0) {
    servers_.erase(server);
    ++server_changes_;
  }
  const auto queue = queues_.find(told.queue);
  if (--queue->second == 0) queues_.erase(queue);
  if (entry.hello_key.empty()) return;
  const auto hello = hellos_.find(entry.hello_key);
  const auto terms = hello->second.find(told.terms);
  const auto sharer = terms->second.find({told.member, told.server_id, told.queue});
  sharer->second.erase(entry.order);
  if (sharer->second.empty()) terms->second.erase(sharer);
  if (terms->second.empty()) hello->second.erase(terms);
  if (hello->second.empty()) hellos_.erase(hello);
}

std::vector<EntryIndex::ServerId> EntryIndex::ServersInOrder() const {
  std::vector<std::pair<uint64_t, ServerId>> sorted;
  sorted.reserve(servers_.size());
  for (const auto& [id, server] : servers_) sorted.emplace_back(server.since, id);
  std::sort(sorted.begin(), sorted.end());
  std::vector<ServerId> ids;
  ids.reserve(sorted.size());
  for (const auto& [since, id] : sorted) ids.push_back(id);
  return ids;
}

bool EntryIndex::HasScheme(bool is_https) const {
  for (const bool is_absent : {false, true}) {
    const auto first = kinds_.lower_bound({.is_absent = is_absent, .is_https = is_https});
    if (first != kinds_.end() && first->first.is_absent == is_absent &&
        first->first.is_https == is_https) {
      return true;
    }
  }
  return false;
}

const EntryIndex::ByTerms* EntryIndex::FindHello(const std::string& hello_key) const {
  const auto found = hellos_.find(hello_key);
  return found == hellos_.end() ? nullptr : &found->second;
}

std::optional<uint64_t> EntryIndex::NextExpiry() const {
  if (expiries_.empty()) return std::nullopt;
  return expiries_.begin()->first.first;
}

std::vector<const StateEntry*> EntryIndex::DueAt(uint64_t now_ms) const {
  std::vector<const StateEntry*> due;
  for (const auto& [when, entry] : expiries_) {
    if (when.first > now_ms) break;
    due.push_back(entry);
  }
  std::sort(due.begin(), due.end(), [](const StateEntry* one, const StateEntry* other) {
    return one->order < other->order;
  });
  return due;
}

}  // namespace httpsys::sharing
