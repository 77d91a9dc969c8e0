// The promises that the model of a shared port checks after each step.

#include <algorithm>
#include <cerrno>
#include <map>

#include "support/port_world.h"

namespace httpsys::test::model {

// -- What JavaScript hears, and what must hold then.

void Model::GiveBack(Process& process) {
  for (Server& server : process.servers) {
    if (server.is_granted && !server.is_gone) Fail("a port was given back that is in use");
  }
  left_.insert(process.id);
  LetGo(process);
  // What lanes have yet to take is none of the next participant's.
  for (Process::Version& version : process.lanes) version.applied.reset();
  process.stale_lanes = process.lanes.size();
  process.are_routes_stale = true;
  for (auto& owners : process.owners) owners.clear();
  process.offline_since_ms = {};
}

void Model::After(Process& process) {
  const bool is_joined = process.port != nullptr && process.port->is_joined();
  if (is_joined && process.port->link() != 0) {
    process.joined_link = process.port->link();
    process.is_succeeded = false;
  }
  ReadResults(process);
  if (process.port != nullptr && process.port->is_over()) GiveBack(process);
  ReadResults(process);
  CheckOwners();
  CheckSucceeded();
  CheckCacheMemory();
}

bool Model::HasEntry(const Process& process, const Server& server) const {
  if (process.port == nullptr) return false;
  const auto& entries = process.port->record().state.entries();
  const sharing::StateEntry* there = entries.Find(process.id, server.id, server.id);
  return there != nullptr && !there->is_absent();
}

void Model::ReadResults(Process& process) {
  for (const RegistrationResult& result : std::exchange(process.results, {})) {
    for (Server& server : process.servers) {
      const bool may_be_lost = server.is_granted && !server.is_gone && !HasEntry(process, server);
      if (result.token == 0 && result.error != 0 && may_be_lost &&
          result.prefix == PrefixText(server.prefix)) {
        server.SetGone(now_ms_);  // Told to be lost. The engine keeps it, and asks again.
        server.is_lost = true;
        CheckLoss(process, server);
      }
      if (result.token == 0) continue;
      if (server.removal == result.token) {
        server.removal = 0;
        OnRemoved(process, server);
      } else if (server.token == result.token) {
        server.token = 0;
        server.error = result.error;
        if (result.error != 0) server.SetGone(now_ms_);
        if (result.error == 0 && !server.is_gone) {
          process.late_lanes = process.lanes.size();
          process.late_prefixes |= 1U << server.prefix;
          OnGranted(process, server);
        }
      }
    }
  }
  const int rank = RankOf(process.id);
  if (process.port == nullptr || rank < 0 || are_doors_open_[rank]) return;
  // The founder binds the port's socket, unless somebody has it.
  const bool is_used = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return other.get() != &process && other->port != nullptr && other->port->record().has_joined;
  });
  const bool is_founding = std::any_of(process.servers.begin(), process.servers.end(),
                                       [](const Server& s) { return s.is_granted && !s.is_gone; });
  if (!is_founding) return;
  if (!is_used) {
    process.port->Contribute("[::]", 1);
    process.OpenMeeting();
    return;
  }
  for (Server& server : process.servers) {
    if (server.is_gone || process.port == nullptr) continue;
    server.SetGone(now_ms_);
    server.token = 0;
    process.port->Unregister({server.id, 0, 1, {}, 0}, false, now_ms_);
  }
}

// A prefix that was granted is lost only to another server that wants it, or did so a little while
// ago, and was not refused it. Or the loser was told so by a coordinator that was stopped when the
// other server left the prefix, and nobody can ask that one any more.
void Model::CheckLoss(const Process& process, const Server& lost) {
  uint64_t told_ms = UINT64_MAX;
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& each : *list) {
      const bool is_teller = !each->is_alive && each->is_succeeded;
      if (is_teller) told_ms = std::min(told_ms, each->succeeded_ms);
    }
  }
  const auto is_winner = [&](const Server& other) {
    const bool is_wanted = !other.is_gone || other.is_lost ||
                           now_ms_ - other.gone_ms < limits::kOfflineMs ||
                           other.gone_ms + limits::kRemovalMs >= told_ms;
    return other.prefix == lost.prefix && other.error != EADDRINUSE && is_wanted;
  };
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& other : *list) {
      if (other.get() == &process) continue;
      if (std::any_of(other->servers.begin(), other->servers.end(), is_winner)) return;
    }
  }
  Fail("process " + std::to_string(process.id) + " has lost a prefix to nobody");
}

Process* Model::Coordinator() const {
  const uint64_t holder = Holder();
  for (const auto& process : processes_) {
    if (process->id == holder && process->port != nullptr) return process.get();
  }
  return nullptr;
}

// Both ends of its link to the coordinator are there, and both go by it.
bool Model::IsInSession(const Process& process) const {
  if (process.port == nullptr) return false;
  const uint64_t holder = Holder();
  if (process.port->is_coordinator()) return holder == process.id;
  const LinkId id = process.port->link();
  if (id == 0 || !process.port->is_joined()) return false;
  const Link& link = links_[id - 1];
  return link.id[1] == holder && link.is_accepted && link.is_open[0] && link.is_open[1];
}

// It has been in session for so long that it has confirmed something.
bool Model::HasConfirmed(const Process& process) const {
  return process.port->is_coordinator() || process.synced_link == process.port->link();
}

// A coordinator that lives has ended the session, or has waited in vain for the process to come
// back after an election: it does not wait for it now.
bool Model::IsCut(const Process& process) const {
  const Process* coordinator = Coordinator();
  const bool is_late = coordinator != nullptr && coordinator != &process &&
                       now_ms_ - holder_since_ms_ >= limits::kReunionMs &&
                       !coordinator->port->record().state.members().contains(process.id);
  return process.is_cut || process.is_dropped || is_late ||
         std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
           return link.id[0] == process.id && link.is_session && link.is_open[0] &&
                  !link.is_open[1] && alive_.contains(link.id[1]);
         });
}

bool Model::IsLinked(const Process& process, const Process& coordinator) const {
  return std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    return link.id[0] == process.id && link.id[1] == coordinator.id && link.is_session &&
           link.is_open[0] && link.is_accepted;
  });
}

bool Model::HasRoute(const Process& by, uint64_t owner, uint32_t server, uint64_t self) const {
  if (by.routes == nullptr) return false;
  for (uint32_t i = 0; i < by.routes->target_limit(); ++i) {
    for (const PortRoutes::Owner& each : by.routes->target(i).owners) {
      const uint64_t member = each.member == 0 ? self : each.member;
      if (member == owner && each.server_id == server) return true;
    }
  }
  return false;
}

// A registration is in force everywhere when it is answered. Who does not confirm in time is not
// waited for, so that only what was answered sooner is looked at.
void Model::OnGranted(Process& process, Server& server) {
  server.is_granted = true;
  if (now_ms_ - server.asked_ms >= limits::kConfirmMs) return;
  for (const auto& other : processes_) {
    // Alone, it decides at once, and its lanes follow.
    if (other.get() == &process || !other->is_alive || !IsInSession(*other)) continue;
    if (!IsInSession(process) || !HasConfirmed(*other)) continue;
    if (!HasRoute(*other, process.id, server.id, other->id)) {
      Fail("process " + std::to_string(other->id) + " has no route to a confirmed prefix of " +
           std::to_string(process.id));
    }
  }
}

// The process has joined a coordinator whose whole term has gone by before the present one has read
// what the last but one had told it. That one cannot know that there was anybody.
bool Model::IsUnheardOf(const Process& process) const {
  const Process* coordinator = Coordinator();
  if (coordinator == nullptr || coordinator == &process || coordinator->is_succeeded) return false;
  const LinkId last = coordinator->joined_link;
  if (last == 0 || last != coordinator->hello_link || process.joined_link == 0) return false;
  const uint64_t joined = links_[process.joined_link - 1].id[1];
  return joined != links_[last - 1].id[1] && joined != coordinator->id;
}

// A removal is known everywhere when it is answered, also by those who have not come to the new
// coordinator yet.
void Model::OnRemoved(Process& process, Server& server) {
  if (now_ms_ - server.asked_ms >= limits::kConfirmMs || server.token != 0) return;
  // Cut by a coordinator that lives, it can tell nobody.
  if (!server.is_granted || process.is_cut) return;
  const bool has_left = process.port != nullptr && process.port->is_over();
  for (const auto& other : processes_) {
    if (other.get() == &process || !other->is_alive || other->port == nullptr) continue;
    // Who has left the port and come back goes by none of its earlier routes.
    if (!other->port->record().has_joined || other->are_routes_stale) continue;
    // A coordinator that leaves has told it, and does not wait. If it was stopped until now, others
    // may have joined a successor that it does not know of.
    const bool is_told = IsLinked(*other, process) || process.is_succeeded;
    if (IsCut(*other) || IsUnheardOf(*other) || (has_left && is_told)) continue;
    if (HasRoute(*other, process.id, server.id, other->id)) {
      Fail("process " + std::to_string(other->id) + " has a route to a prefix that " +
           std::to_string(process.id) + " was told to be gone");
    }
  }
}

// Never two owners of a prefix outside one queue.
void Model::CheckOwners() {
  std::map<uint32_t, std::pair<uint64_t, std::string>> owners;
  for (const auto& process : processes_) {
    if (!process->is_alive || process->agains != 0 || !IsInSession(*process)) continue;
    for (const Server& server : process->servers) {
      if (!server.is_granted || server.is_gone) continue;
      const auto [found, is_new] = owners.insert({server.prefix, {process->id, server.queue}});
      const bool is_shared = !server.queue.empty() && server.queue == found->second.second;
      if (is_new || is_shared) continue;
      Fail("prefix " + std::to_string(server.prefix) + " has two owners: " +
           std::to_string(found->second.first) + " and " + std::to_string(process->id));
    }
  }
}

// Nobody is succeeded who has not been asked for long enough, or has said something; and nobody
// succeeds who does not know the port.
void Model::CheckTakeover(const Process& process, uint32_t rank) {
  if (!process.port->record().has_joined) {
    Fail("process " + std::to_string(process.id) + " succeeds another one as a newcomer");
  }
  const uint64_t before = names_[rank];
  const bool is_asked = std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    return before != 0 && link.id[0] == process.id && link.id[1] == before && link.is_open[0] &&
           link.to[0].frames.empty() && !link.to[0].is_ended &&
           now_ms_ - link.since_ms >= limits::kSilentMs && !link.is_session;
  });
  if (!is_asked) {
    Fail("process " + std::to_string(process.id) + " succeeds one that it has not asked");
  }
  successor_ = process.id;
  succeeded_ = before;
  for (const auto& each : processes_) {
    if (each->id != before) continue;
    each->is_succeeded = true;
    each->succeeded_ms = now_ms_;
  }
  kept_.clear();
  for (const auto& there : process.port->record().state.EntriesOfMember(before)) {
    if (!there.is_absent()) kept_.insert(there.entry.server_id);
  }
}

// A coordinator that is stopped keeps its prefixes until it goes on, or ends.
void Model::CheckSucceeded() {
  const Process* coordinator = Coordinator();
  if (succeeded_ == 0 || coordinator == nullptr || coordinator->id != successor_) return;
  for (const uint32_t server_id : kept_) {
    const Process* owner = nullptr;
    const Server* server = FindServer(succeeded_, server_id, &owner);
    if (server == nullptr || server->is_gone || !server->is_granted) continue;
    const auto there = coordinator->port->record().state.EntriesOfServer(succeeded_, server_id);
    const bool is_there = std::any_of(there.begin(), there.end(),
                                      [](const auto& entry) { return !entry.is_absent(); });
    if (!is_there) Fail("a prefix of a stopped process is lost");
  }
}

Server* Model::FindServer(uint64_t member, uint32_t server_id, const Process** owner) const {
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& process : *list) {
      if (process->id != member) continue;
      *owner = process.get();
      for (Server& server : process->servers) {
        if (server.id == server_id) return &server;
      }
    }
  }
  return nullptr;
}

// The other processes whose state has the server.
std::vector<uint64_t> Model::KnowersOf(const Process& process, const Server& server) const {
  std::vector<uint64_t> knowers;
  for (const auto& other : processes_) {
    if (other.get() == &process || other->port == nullptr) continue;
    for (const auto& there : other->port->record().state.EntriesOfServer(process.id, server.id)) {
      if (!there.is_absent()) knowers.push_back(other->id);
    }
  }
  return knowers;
}

// A prefix of a queue needs nobody back while the queue has another owner. One that has left while
// the coordinator was stopped may count as that: nobody has heard of it.
bool Model::IsSharedWithGone(const Server& server) const {
  if (server.queue.empty()) return false;
  const std::string prefix = PrefixText(server.prefix);
  const auto has_gone = [&](const auto& process) {
    if (process->port == nullptr) return false;
    for (const sharing::StateEntry& there : process->port->record().state.entries()) {
      const peer::Entry& entry = there.entry;
      if (there.is_absent() || entry.prefix != prefix || entry.queue != server.queue) continue;
      const Process* owner = nullptr;
      const Server* const other = FindServer(entry.member, entry.server_id, &owner);
      if (other != nullptr && other->is_gone) return true;
    }
    return false;
  };
  return std::any_of(processes_.begin(), processes_.end(), has_gone);
}

// Since when the server counts as that of a killed process. What the coordinator does not have does
// so before its process is killed. A return counts for nothing if those who knew of it are gone.
uint64_t Model::GoneSince(const Process& process, const Server& server) const {
  const bool is_seen =
      std::any_of(server.seen_by.begin(), server.seen_by.end(),
                  [this](uint64_t id) { return alive_.contains(id) && !left_.contains(id); });
  if (!is_seen && server.last_dropped_ms != 0) return server.last_dropped_ms;
  return server.dropped_ms != 0 ? server.dropped_ms : process.died_ms;
}

// What was taken back, has been away for long enough, or was taken back by a successor.
bool Model::MayForget(uint64_t member, uint32_t server_id) const {
  const Process* owner = nullptr;
  const Server* server = FindServer(member, server_id, &owner);
  if (server == nullptr || server->is_gone || !server->is_granted) return true;
  if (server->is_shared_with_gone) return true;
  // Frames and routes of before the return are read and applied after it.
  const bool was_over =
      server->regained_ms != 0 && now_ms_ - server->regained_ms < limits::kOfflineMs;
  if (owner->is_alive && server->dropped_ms == 0) return was_over;
  const uint64_t gone_ms = GoneSince(*owner, *server);
  // The time that a coordinator is told may be a little later than its own (IsExpected()).
  if (now_ms_ - gone_ms + 100 >= limits::kOfflineMs) return true;
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& other : *list) {
      for (const Server& later : other->servers) {
        const bool is_other = later.prefix == server->prefix && &later != server && later.is_gone;
        // A coordinator that was stopped grants what it was asked in vain, and then reads so.
        if (is_other && later.error == ETIMEDOUT) return true;
        // What was said before may be heard after.
        const bool is_slow =
            !later.is_granted || (!server->queue.empty() && later.queue == server->queue);
        const uint64_t slack_ms = is_slow ? limits::kRemovalMs : 0;
        if (is_other && later.gone_ms + slack_ms >= gone_ms) return true;
      }
    }
  }
  return false;
}

// Requests for a prefix whose process was killed get 503 for a while, or its successor, and never
// 404.
void Model::CheckKnowledge(Process& process, const PortRoutes* before, uint32_t overdue) {
  for (uint32_t prefix = 0; prefix < kPrefixes; ++prefix) {
    const std::string path = "/" + std::to_string(prefix) + "/";
    auto& owners = process.owners[prefix];
    if ((process.late_prefixes >> prefix & 1U) != 0) {
      owners.clear();
      continue;
    }
    const Route route = process.routes->Find("a", path, {});
    if (route.status == RouteStatus::kMatch && !process.routes->target(route.id).owners.empty()) {
      owners.clear();
      for (const PortRoutes::Owner& owner : process.routes->target(route.id).owners) {
        owners.emplace_back(owner.member == 0 ? process.id : owner.member, owner.server_id);
      }
    }
    if (route.status == RouteStatus::kOffline && owners.empty()) {
      for (const sharing::StateEntry& there : process.port->record().state.entries()) {
        if (there.is_absent() && there.entry.prefix == PrefixText(prefix)) {
          owners.emplace_back(there.entry.member, there.entry.server_id);
        }
      }
    }
    const bool is_known =
        route.status == RouteStatus::kMatch || route.status == RouteStatus::kOffline;
    if (is_known || before == nullptr) continue;
    const bool is_overdue = (overdue >> prefix & 1U) != 0;
    const bool may_forget =
        is_overdue || std::any_of(owners.begin(), owners.end(), [this](const auto& owner) {
          return MayForget(owner.first, owner.second);
        });
    if (!owners.empty() && !may_forget) {
      const Process* owner = nullptr;
      FindServer(owners[0].first, owners[0].second, &owner);
      Fail("process " + std::to_string(process.id) + " has forgotten a prefix of the " +
           (owner->is_alive ? "living" : "killed") + " process " + std::to_string(owner->id));
    }
    owners.clear();
  }
}

size_t Model::Pending() const {
  size_t pending = 0;
  for (const Link& link : links_) {
    for (const int side : {0, 1}) {
      if (link.process[side] < 0 || !link.is_open[side]) continue;
      pending += link.to[side].frames.size() + (link.to[side].is_ended ? 1 : 0);
      pending += side == 1 && !link.is_accepted ? 1 : 0;
    }
  }
  for (const auto& process : processes_) {
    pending += process->is_alive ? process->lanes.size() : 0;
    pending += process->is_alive && process->is_doubted ? 1 : 0;
  }
  return pending;
}

}  // namespace httpsys::test::model
