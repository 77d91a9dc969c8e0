// The promises that the model of a shared port checks at the end of a schedule.

#include <algorithm>

#include "support/port_world.h"

namespace httpsys::test::model {
namespace {

// Far more rounds than what all processes have to tell each other after a schedule.
constexpr size_t kRoundsMax = 4000;

}  // namespace

void Model::Settle() {
  for (const auto& process : processes_) process->is_paused = false;
  const uint64_t end_ms = now_ms_ + kSettleMs;
  bool has_died = false;
  while (now_ms_ < end_ms && failure_.empty()) {
    DeliverAll();
    if (!has_died && now_ms_ >= end_ms - kSettleMs + limits::kCoordinatorMs + kWaitMs + 2500) {
      has_died = true;
      CheckAgreement();
      CheckDeath();
      CheckPromptness();
      CheckGrants();
    }
    const bool is_busy = now_ms_ < end_ms - limits::kOfflineMs;
    Advance(is_busy ? kTickMs : 20 * kTickMs);
    ++steps_;
  }
  if (failure_.empty()) CheckAgreement();
  if (failure_.empty()) CheckSizes();
  for (const auto& process : processes_) {
    if (process->port != nullptr && process->port->NeedsTicks()) {
      Fail("process " + std::to_string(process->id) + " waits for something for ever");
    }
  }
}

// While nobody was stopped or cut off, so that the coordinator knows of everybody, they never use
// more than they may together.
void Model::CheckCacheMemory() {
  uint64_t used = 0;
  for (const auto& process : processes_) {
    if (!process->is_alive || process->port == nullptr) continue;
    if (process->is_paused || process->is_cut || process->is_dropped || process->is_succeeded)
      return;
    if (process->port->record().cache.bytes != 0) used += process->port->record().cache.held;
  }
  if (!has_stopped_ && used > kCacheLimit) {
    Fail("caches use " + std::to_string(used / sharing::CacheShares::kUnitBytes) + " units");
  }
}

// Each process has what it wants for its cache, or as much as any other that wants more than it
// has.
void Model::CheckGrants() {
  constexpr uint64_t kUnit = sharing::CacheShares::kUnitBytes;
  uint64_t wanted = 0;
  uint64_t granted = 0;
  uint64_t most = 0;
  std::vector<const Process*> sharers;
  for (const auto& process : processes_) {
    const bool is_there = process->is_alive && process->port != nullptr;
    const uint64_t wish = is_there ? process->port->record().cache.bytes : 0;
    if (wish == 0) {
      if (process->is_alive && process->granted != UINT64_MAX) {
        Fail("process " + std::to_string(process->id) + " is bounded and has no cache");
      }
      continue;
    }
    sharers.push_back(process.get());
    const bool has_cached =
        std::any_of(process->servers.begin(), process->servers.end(), [](const Server& server) {
          return server.is_cached && (!server.is_gone || server.is_lost);
        });
    if (!has_cached) Fail("process " + std::to_string(process->id) + " wants memory for nothing");
    wanted += wish;
    granted += process->granted;
    most = std::max(most, process->granted);
  }
  if (granted != std::min(wanted, kCacheLimit) && failure_.empty()) {
    Fail(std::to_string(granted / kUnit) + " units are granted of " +
         std::to_string(wanted / kUnit) + " that are wanted");
  }
  for (const Process* process : sharers) {
    const bool has_all = process->granted >= process->port->record().cache.bytes;
    if (!has_all && process->granted + kUnit < most) {
      Fail("process " + std::to_string(process->id) + " has less than its part");
    }
  }
}

void Model::DeliverAll() {
  for (size_t i = 0; Pending() != 0; ++i) {
    const size_t before = Pending();
    if (i == kRoundsMax) return Fail("the processes tell each other something for ever");
    for (const auto& process : processes_) {
      while (process->IsRunning() && !process->lanes.empty()) Apply(*process);
    }
    ++steps_;
    if (!Deliver(0, false) && Pending() == before) break;
  }
}

// While everybody runs and nothing is on its way, nobody waits for a deadline: a registration and
// its removal are confirmed without any time going by.
void Model::CheckPromptness() {
  const Process* coordinator = Coordinator();
  if (coordinator == nullptr || !failure_.empty()) return;
  const auto& state = coordinator->port->record().state;
  uint32_t choice = 1;
  while (choice < kPrefixes && state.HasPrefix(PrefixText(choice))) ++choice;
  if (choice == kPrefixes || choice % 5 == 0) return;
  for (const auto& process : processes_) {
    if (!process->is_alive || process->port == nullptr || !failure_.empty()) continue;
    Register(*process, choice);
    DeliverAll();
    const Server& server = process->servers.back();
    if (server.token == 0 && server.is_granted) {
      const auto there = std::count_if(process->servers.begin(), process->servers.end(),
                                       [](const Server& each) { return !each.is_gone; });
      Unregister(*process, static_cast<uint32_t>(there - 1));
      DeliverAll();
    }
    if (server.token != 0 || server.removal != 0) {
      Fail("process " + std::to_string(process->id) + " waits although everybody runs");
    }
  }
}

// Nobody keeps more than what is registered and who is there.
void Model::CheckSizes() {
  const auto registered = [](const Process& process) {
    const auto is_kept = [](const Server& each) {
      return each.is_granted && (!each.is_gone || each.is_lost);
    };
    return static_cast<size_t>(
        std::count_if(process.servers.begin(), process.servers.end(), is_kept));
  };
  size_t members = 0;
  size_t servers = 0;
  for (const auto& process : processes_) {
    if (process->port == nullptr) continue;
    ++members;
    servers += registered(*process);
  }
  for (const auto& process : processes_) {
    if (process->port == nullptr) continue;
    const sharing::PortRecord& record = process->port->record();
    const struct {
      const char* what;
      size_t size;
      size_t most;
    } lists[] = {
        {"entries", record.state.entries().size(), servers},
        {"members", record.state.members().size(), members},
        {"servers", record.own.server_count(), registered(*process)},
        {"sockets", record.sockets.size(), 1},
        {"queued registrations", record.queued.size(), 0},
        {"asked registrations", record.asked.size(), 0},
        {"removals", record.removals.size(), 0},
    };
    for (const auto& [what, size, most] : lists) {
      if (size <= most) continue;
      Fail("process " + std::to_string(process->id) + " keeps " + std::to_string(size) + " " +
           what + " and needs " + std::to_string(most));
    }
  }
}

// There is one coordinator, and all have the same state, in which everybody's prefixes are.
void Model::CheckAgreement() {
  std::optional<std::set<std::string>> first;
  int coordinators = 0;
  for (const auto& process : processes_) {
    if (process->port == nullptr) {
      for (const Server& server : process->servers) {
        if (process->is_alive && (server.token != 0 || server.removal != 0)) {
          Fail("process " + std::to_string(process->id) + " was never answered");
        }
      }
      continue;
    }
    coordinators += process->port->is_coordinator() ? 1 : 0;
    if (!IsInSession(*process)) {
      Fail("process " + std::to_string(process->id) + " has found no coordinator");
      continue;
    }
    std::set<std::string> entries;
    for (const sharing::StateEntry& there : process->port->record().state.entries()) {
      const peer::Entry& entry = there.entry;
      entries.insert(std::to_string(entry.member) + ":" + std::to_string(entry.server_id) + " " +
                     entry.prefix + (there.is_absent() ? " absent" : ""));
      if (!there.is_absent() && !alive_.contains(entry.member)) {
        Fail("an entry of the dead process " + std::to_string(entry.member) + " is left");
      }
    }
    if (!first) first = entries;
    if (*first != entries) {
      std::string text = "process " + std::to_string(process->id) + " knows another state:";
      for (const std::string& each : *first) text.append(entries.contains(each) ? "" : " -" + each);
      for (const std::string& each : entries) text.append(first->contains(each) ? "" : " +" + each);
      Fail(text);
    }
    for (const Server& server : process->servers) {
      if (server.token != 0 || server.removal != 0) {
        Fail("process " + std::to_string(process->id) + " was never answered");
      }
      const bool is_there =
          entries.contains(std::to_string(process->id) + ":" + std::to_string(server.id) + " " +
                           PrefixText(server.prefix));
      if (server.is_granted && !server.is_gone && !is_there) {
        Fail("a prefix of process " + std::to_string(process->id) + " was lost untold");
      }
      if (!server.is_granted && server.is_gone && is_there) {
        Fail("process " + std::to_string(process->id) + " has a prefix that it was refused");
      }
      const bool is_own = process->port->record().own.HasServer(server.id);
      if (server.is_gone && is_there && !is_own) {
        Fail("a prefix that process " + std::to_string(process->id) + " took back is left");
      }
    }
  }
  if (coordinators > 1) Fail("there are two coordinators");
}

// Prefixes of a killed process are expected back for a while, unless somebody has them.
void Model::CheckDeath() {
  const Process* coordinator = Coordinator();
  if (coordinator == nullptr) return;
  for (const auto& process : processes_) {
    if (process->is_alive) continue;
    for (const Server& server : process->servers) {
      const bool is_known =
          std::any_of(server.witnesses.begin(), server.witnesses.end(),
                      [this](uint64_t id) { return alive_.contains(id) && !left_.contains(id); });
      const auto& entries = coordinator->port->record().state.entries();
      const bool is_there =
          std::any_of(entries.begin(), entries.end(), [&](const sharing::StateEntry& there) {
            return there.entry.prefix == PrefixText(server.prefix);
          });
      if (is_known && !is_there && !MayForget(process->id, server.id)) {
        Fail("the prefix of a killed process is forgotten at once");
      }
    }
  }
}

}  // namespace httpsys::test::model
