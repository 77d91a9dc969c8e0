#include "sharing/port_record.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {

peer::Register* OwnRegistrations::FindOfPrefix(uint32_t server_id, uint32_t prefix_id) {
  const auto server = servers_.find(server_id);
  if (server == servers_.end()) return nullptr;
  const auto number = server->second.by_prefix.find(prefix_id);
  return number == server->second.by_prefix.end() ? nullptr
                                                  : &server->second.list.at(number->second);
}

void OwnRegistrations::Add(peer::Register registered) {
  const auto [found, is_new] = servers_.try_emplace(registered.server_id);
  Server& server = found->second;
  if (!is_new && server.list.empty()) --idle_count_;
  for (const peer::PrefixItem& item : registered.prefixes) ForgetPrefix(&server, item.id);
  const uint64_t number = ++last_number_;
  for (const peer::PrefixItem& item : registered.prefixes) server.by_prefix[item.id] = number;
  server.list.emplace(number, std::move(registered));
}

void OwnRegistrations::ForgetPrefix(Server* server, uint32_t prefix_id) {
  const auto found = server->by_prefix.find(prefix_id);
  if (found == server->by_prefix.end()) return;
  const auto registered = server->list.find(found->second);
  server->by_prefix.erase(found);
  auto& prefixes = registered->second.prefixes;
  std::erase_if(prefixes, [=](const peer::PrefixItem& item) { return item.id == prefix_id; });
  if (prefixes.empty()) server->list.erase(registered);
}

void OwnRegistrations::Forget(const peer::Unregister& gone, bool stays) {
  const auto [found, is_new] = servers_.try_emplace(gone.server_id);
  Server& server = found->second;
  if (!is_new && server.list.empty()) --idle_count_;
  if (gone.is_all != 0) {
    server = {};
  } else {
    for (const uint32_t prefix_id : gone.prefix_ids) ForgetPrefix(&server, prefix_id);
  }
  if (!server.list.empty()) return;
  if (stays) {
    ++idle_count_;
  } else {
    servers_.erase(found);
  }
}

uint32_t PortRecord::PidOf(uint64_t member) const {
  if (member == self.id) return self.pid;
  const auto found = state.members().find(member);
  return found == state.members().end() ? 0 : found->second.pid;
}

void PortRecord::Publish(std::optional<Applied> applied) {
  effects->Publish(routing_.Update(state.entries_to_follow(), own.HasIdle(), state.departures()),
                   applied);
}

void PortRecord::Reserve(std::vector<UrlPrefix> prefixes) {
  routing_.Reserve(std::move(prefixes));
  Publish();
}

std::vector<PortRecord::Change> PortRecord::RemoveEntries(uint64_t member,
                                                          const peer::Unregister& gone,
                                                          uint64_t now_ms) {
  std::vector<Change> changes;
  std::vector<StateEntry> meant;
  if (gone.is_all != 0) {
    meant = state.EntriesOfServer(member, gone.server_id);
  } else {
    const std::set<uint32_t> prefix_ids(gone.prefix_ids.begin(), gone.prefix_ids.end());
    for (const uint32_t id : prefix_ids) {
      const StateEntry* there = state.entries().Find(member, gone.server_id, id);
      if (there != nullptr) meant.push_back(*there);
    }
  }
  for (const StateEntry& there : meant) {
    peer::Entry entry = there.entry;
    if (there.is_absent()) continue;
    state.RemoveEntry({member, gone.server_id, entry.prefix_id});
    const bool is_absent = gone.wait_ms != 0 && !state.HasKey(there.key);
    if (is_absent) {
      entry.absent_ms = gone.wait_ms;
      state.AddEntry(entry, now_ms);
    }
    changes.push_back({std::move(entry), is_absent});
  }
  return changes;
}

// Returns removals that the present coordinator might not know: the last coordinator may have ended
// before any member knew of them. Later registrations must be sent after them.
std::vector<PortRecord::Untold> PortRecord::TakeUntold(uint64_t now_ms) {
  std::vector<Untold> untold;
  for (auto& [token, removal] : removals) {
    if (std::exchange(removal.is_told, true)) continue;
    peer::Unregister gone = removal.gone;
    if (gone.wait_ms != 0) {
      const uint64_t waited_ms = now_ms - removal.since_ms;
      gone.wait_ms = gone.wait_ms > waited_ms ? gone.wait_ms - static_cast<uint32_t>(waited_ms) : 1;
    }
    untold.push_back({token, gone, RemoveEntries(self.id, gone, now_ms)});
  }
  // Also remove entries without such a record: the removal was given up, or this member learned of
  // the entry too late.
  for (const peer::Unregister& gone : StaleEntries()) {
    untold.push_back({0, gone, RemoveEntries(self.id, gone, now_ms)});
  }
  return untold;
}

// Returns entries that other members attribute to this engine, and that it has not registered.
std::vector<peer::Unregister> PortRecord::StaleEntries() const {
  std::set<std::pair<uint32_t, uint32_t>> wanted;  // Server ids and prefix ids.
  const auto add = [&](const peer::Register& registered) {
    for (const peer::PrefixItem& item : registered.prefixes) {
      wanted.insert({registered.server_id, item.id});
    }
  };
  own.ForEach(add);
  std::for_each(queued.begin(), queued.end(), add);
  std::vector<peer::Unregister> result;
  for (const StateEntry& there : state.EntriesOfMember(self.id)) {
    const peer::Entry& entry = there.entry;
    const bool is_wanted = wanted.contains({entry.server_id, entry.prefix_id});
    if (is_wanted || there.is_absent()) continue;
    result.push_back({entry.server_id, 0, 0, {entry.prefix_id}, 0});
  }
  return result;
}

void PortRecord::CompleteRemoval(uint32_t token) {
  RegistrationResult result;
  result.token = token;
  has_completed_removal = true;
  effects->Complete(std::move(result), false);
}

void PortRecord::CompleteRemovals() {
  for (const auto& [token, removal] : removals) CompleteRemoval(token);
  removals.clear();
}

void PortRecord::GiveUpRemovals(uint64_t now_ms, uint64_t after_ms) {
  std::erase_if(removals, [&](const auto& item) {
    const bool is_late = now_ms - item.second.since_ms >= after_ms;
    if (is_late) CompleteRemoval(item.first);
    return is_late;
  });
}

void PortRecord::FailAll(const RegistrationResult& why) {
  const auto fail = [&](uint32_t token) {
    RegistrationResult result = why;
    result.token = token;
    effects->Complete(std::move(result), true);
  };
  for (const peer::Register& wanted : queued) fail(wanted.token);
  for (const auto& [token, wanted] : asked) fail(token);
  queued.clear();
  asked.clear();
  has_failed = true;
}

void PortRecord::AddOwn(peer::Register registered) {
  const bool is_fed = (registered.flags & peer::kEntryFed) != 0;
  own.Add(std::move(registered));
  EnsureAccepted();
  // Another program gives a fed server its connections: visitors need not wait for its sockets.
  if (is_fed) effects->OpenMeeting();
}

void PortRecord::NoteGranted(const peer::Entry& entry) {
  if (entry.absent_ms != 0) return;
  peer::Register* registered = own.FindOfPrefix(entry.server_id, entry.prefix_id);
  if (registered != nullptr) registered->again = peer::kFirstTime;
}

void PortRecord::TakeGrant(uint64_t bytes) {
  cache.held = bytes == UINT64_MAX ? 0 : bytes;
  effects->GrantCache(bytes);
}

void PortRecord::EnsureAccepted() {
  if (own.empty()) return;
  for (Socket& socket : sockets) {
    const uint32_t server_id = own.first_server();
    if (own.HasServer(socket.accepted_by) || !effects->Accept(server_id, socket.address)) continue;
    socket.accepted_by = server_id;
  }
}

bool PortRecord::AddSocket(const std::string& address) {
  const bool is_known = std::any_of(sockets.begin(), sockets.end(), [&](const Socket& socket) {
    return socket.address == address;
  });
  if (is_known || sockets.size() >= limits::kSharedSocketsMax) return false;
  sockets.push_back({address});
  return true;
}

void PortRecord::ForRegistrations(uint32_t server_id,
                                  const std::function<void(peer::Register*)>& use) {
  own.ForEachOf(server_id, [&](peer::Register& registered) { use(&registered); });
  for (peer::Register& wanted : queued) {
    if (wanted.server_id == server_id) use(&wanted);
  }
  for (auto& [token, wanted] : asked) {
    if (wanted.server_id == server_id) use(&wanted);
  }
}

}  // namespace httpsys::sharing
