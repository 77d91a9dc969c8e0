#include "sharing/entry_index.h"

#include <algorithm>

namespace httpsys::sharing {

EntryIndex::Shape EntryIndex::ShapeOf(const StateEntry& entry) {
  Shape shape;
  shape.is_absent = entry.is_absent();
  shape.is_https = entry.parsed.is_https;
  shape.is_bound = entry.parsed.host_kind == HostKind::kIpBound;
  if (shape.is_bound) shape.ip = entry.parsed.ip;
  shape.flags = entry.entry.flags & static_cast<uint8_t>(~peer::kEntryOffline);
  return shape;
}

void EntryIndex::Add(const StateEntry& entry) {
  const peer::Entry& told = entry.entry;
  const ServerId server_id{told.member, told.server_id};
  ByOrder& of_shape = shapes_[ShapeOf(entry)][server_id];
  if (of_shape.empty()) ++structure_;
  of_shape.emplace(entry.order, &entry);
  if (entry.is_absent()) {
    expiries_.emplace(std::pair{entry.absent_until_ms, entry.order}, &entry);
    return;
  }
  Server& server = servers_[server_id];
  if (server.entries++ == 0) {
    server.since = entry.order;
    ++structure_;
  }
  ++queues_[told.queue];
  if (entry.hello_key.empty()) return;
  hellos_[entry.hello_key][told.terms][{told.member, told.server_id, told.queue}].emplace(
      entry.order, &entry);
}

void EntryIndex::Remove(const StateEntry& entry) {
  const peer::Entry& told = entry.entry;
  const ServerId server_id{told.member, told.server_id};
  const auto shape = shapes_.find(ShapeOf(entry));
  const auto of_shape = shape->second.find(server_id);
  of_shape->second.erase(entry.order);
  if (of_shape->second.empty()) {
    ++structure_;
    shape->second.erase(of_shape);
    if (shape->second.empty()) shapes_.erase(shape);
  }
  if (entry.is_absent()) {
    expiries_.erase({entry.absent_until_ms, entry.order});
    return;
  }
  const auto server = servers_.find(server_id);
  if (--server->second.entries == 0) {
    servers_.erase(server);
    ++structure_;
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
    const auto first = shapes_.lower_bound({.is_absent = is_absent, .is_https = is_https});
    if (first != shapes_.end() && first->first.is_absent == is_absent &&
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
