// Prefixes that a member takes back, until everybody is known to have heard of it: their
// coordinator may end before it has told anybody.

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "sharing/sharing.h"

namespace httpsys::sharing {

bool Sharing::Unregister(uint16_t number, const peer::Unregister& gone, bool stays) {
  const std::lock_guard lock(mutex_);
  Port* port = Find(number);
  if (port == nullptr) return false;
  const auto is_gone = [&](const peer::PrefixItem& item) {
    return gone.is_all != 0 || std::find(gone.prefix_ids.begin(), gone.prefix_ids.end(), item.id) !=
                                   gone.prefix_ids.end();
  };
  auto& own = port->own[gone.server_id];
  for (peer::Register& registered : own) std::erase_if(registered.prefixes, is_gone);
  std::erase_if(own, [](const peer::Register& r) { return r.prefixes.empty(); });
  if (own.empty() && !stays) {
    port->own.erase(gone.server_id);
    // It stops accepting; when it listens again it may have the same number.
    for (SharedSocket& socket : port->sockets) {
      if (socket.accepted_by == gone.server_id) socket.accepted_by = 0;
    }
  }
  if (gone.is_all != 0) {
    // Before they have been decided on.
    std::erase_if(port->queued,
                  [&](const peer::Register& wanted) { return wanted.server_id == gone.server_id; });
    std::erase_if(port->asked,
                  [&](const auto& item) { return item.second.server_id == gone.server_id; });
  }
  RemoveEntries(port, id_, gone);
  PublishRoutes(port);
  EnsureAccepted(port);
  const bool has_others = !port->state.entries().empty();
  const bool is_alone =
      port->role == Role::kCoordinator && port->sessions.empty() && !IsAwaiting(*port);
  if (gone.token != 0) port->removals[gone.token] = {gone, NowMs()};
  if (!is_alone) {
    OnThread(number, [this, gone](Port* port) {
      const auto kept = port->removals.find(gone.token);
      if (kept == port->removals.end()) {
        if (gone.token == 0) TellRemoval(port, 0, gone);
      } else if (!port->has_joined) {
        // Nothing was granted that could be taken back.
        CompleteRemovals(port);
      } else if (!kept->second.is_told && port->role != Role::kJoining) {
        kept->second.is_told = true;
        TellRemoval(port, gone.token, gone);
      }
      if (IsUnused(*port)) Drop(port);
    });
  } else {
    if (has_others) {
      CompleteRemovals(port);
    } else {
      port->removals.clear();
    }
    if (IsUnused(*port)) Drop(port);
  }
  return has_others || !is_alone;
}

void Sharing::CompleteRemoval(uint32_t token) {
  RegistrationResult result;
  result.token = token;
  results_.push_back(std::move(result));
  delegate_->WakeConsumer();
}

// Nobody is left who could confirm them.
void Sharing::CompleteRemovals(Port* port) {
  for (const auto& [token, removal] : port->removals) CompleteRemoval(token);
  port->removals.clear();
}

// Everybody knows. Whoever called may still need the port; and when JavaScript hears of it, what
// leaves has left.
void Sharing::FinishRemoval(uint16_t number, uint32_t token) {
  Post([this, number, token] {
    const std::lock_guard lock(mutex_);
    Port* port = Find(number);
    if (port == nullptr || port->removals.erase(token) == 0) return;
    CompleteRemoval(token);
    if (WantsNothing(*port) && port->removals.empty()) Drop(port);
  });
}

// Of entries that are this member's: RemoveEntries() was called.
void Sharing::TellRemoval(Port* port, uint32_t token, const peer::Unregister& gone) {
  if (port->role == Role::kCoordinator) {
    const uint32_t serial = SyncAll(port);
    if (token != 0) Confirm(port, serial, nullptr, token);
  } else if (port->upstream != nullptr) {
    port->upstream->Send(peer::FrameType::kUnregister, peer::Encode(gone));
    if (token != 0) ExpectAnswer(port);
  }
}

// The last coordinator may have ended before anybody heard of them. What is registered again since
// then is told after them.
void Sharing::TellRemovalsAgain(Port* port) {
  const uint64_t now_ms = NowMs();
  for (auto& [token, removal] : port->removals) {
    if (std::exchange(removal.is_told, true)) continue;
    peer::Unregister gone = removal.gone;
    if (gone.wait_ms != 0) {
      const uint64_t waited_ms = now_ms - removal.since_ms;
      gone.wait_ms = gone.wait_ms > waited_ms ? gone.wait_ms - static_cast<uint32_t>(waited_ms) : 1;
    }
    RemoveEntries(port, id_, gone);
    TellRemoval(port, token, gone);
  }
  // What nobody remembers to have taken back: it was given up, or this member was told too late.
  for (const peer::Unregister& gone : StaleEntries(*port)) {
    RemoveEntries(port, id_, gone);
    TellRemoval(port, 0, gone);
  }
}

// What others take for this member's, and is not.
std::vector<peer::Unregister> Sharing::StaleEntries(const Port& port) const {
  std::vector<peer::Unregister> result;
  for (const StateEntry& there : port.state.EntriesOfMember(id_)) {
    const peer::Entry& entry = there.entry;
    const auto has_it = [&](const peer::Register& registered) {
      return registered.server_id == entry.server_id &&
             std::any_of(registered.prefixes.begin(), registered.prefixes.end(),
                         [&](const peer::PrefixItem& item) { return item.id == entry.prefix_id; });
    };
    const auto own = port.own.find(entry.server_id);
    const bool is_wanted =
        (own != port.own.end() && std::any_of(own->second.begin(), own->second.end(), has_it)) ||
        std::any_of(port.queued.begin(), port.queued.end(), has_it);
    if (is_wanted || there.is_absent()) continue;
    result.push_back({entry.server_id, 0, 0, {entry.prefix_id}, 0});
  }
  return result;
}

// One coordinator after the other has gone.
void Sharing::GiveUpRemovals(Port* port, uint64_t now_ms) {
  std::erase_if(port->removals, [&](const auto& item) {
    const bool is_late = now_ms - item.second.since_ms >= limits::kRemovalMs;
    if (is_late) CompleteRemoval(item.first);
    return is_late;
  });
}

}  // namespace httpsys::sharing
