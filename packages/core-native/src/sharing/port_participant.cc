#include "sharing/port_participant.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {

PortParticipant::PortParticipant(uint16_t number, peer::Member self, PortEffects* effects)
    : record_(number, std::move(self), effects),
      coordinator_(&record_, effects),
      membership_(&record_, effects) {}

bool PortParticipant::IsAlone() const {
  return is_coordinator_ && !coordinator_.has_links() && !coordinator_.IsAwaiting();
}

// Returns true if this engine may leave the port: it has registered nothing, and its coordinator
// (or, if it is a new coordinator itself, each returned member) knows its removals.
bool PortParticipant::IsUnused() const {
  const bool is_heard = is_coordinator_ && !coordinator_.IsAwaiting();
  return record_.WantsNothing() && (record_.removals.empty() || is_heard);
}

// -- Inputs of JavaScript.

void PortParticipant::Found(uint64_t now_ms) {
  is_coordinator_ = true;
  // No member was on the port before, so this engine knows all of its state.
  record_.has_joined = true;
  coordinator_.Begin({}, now_ms);
}

bool PortParticipant::Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms) {
  YieldIfSucceeded();
  if (is_coordinator_) {
    const bool is_done = coordinator_.Register(std::move(wanted), result, now_ms);
    WishNothingIfUnused();
    return is_done;
  }
  record_.queued.push_back(std::move(wanted));
  if (membership_.is_joined()) {
    membership_.AskQueued(now_ms);
  } else {
    membership_.SeekSoon();
  }
  return false;
}

// Forgets prefixes that a server of this engine has registered or asked for.
void PortParticipant::ForgetOwn(const peer::Unregister& gone, bool stays) {
  record_.own.Forget(gone, stays);
  if (!record_.own.HasServer(gone.server_id)) {
    // The server stops accepting. A server that listens later may get the same number.
    for (PortRecord::Socket& socket : record_.sockets) {
      if (socket.accepted_by == gone.server_id) socket.accepted_by = 0;
    }
  }
  if (gone.is_all == 0) return;
  // Registrations of the server that are not decided on yet are dropped, too.
  std::erase_if(record_.queued,
                [&](const peer::Register& wanted) { return wanted.server_id == gone.server_id; });
  std::erase_if(record_.asked,
                [&](const auto& item) { return item.second.server_id == gone.server_id; });
  record_.has_failed = true;
  WishNothingIfUnused();
}

bool PortParticipant::Unregister(const peer::Unregister& gone, bool stays, uint64_t now_ms) {
  YieldIfSucceeded();
  ForgetOwn(gone, stays);
  const auto changes = record_.RemoveEntries(record_.self.id, gone, now_ms);
  record_.Publish();
  record_.EnsureAccepted();
  const bool has_others = !record_.state.entries().empty();
  if (gone.token != 0) record_.removals[gone.token] = {gone, now_ms};
  if (IsAlone()) {
    // The return value tells the caller about this removal. Earlier removals may have waited for a
    // member that has left since.
    if (!has_others) record_.removals.erase(gone.token);
    record_.CompleteRemovals();
    if (IsUnused()) End();
    return has_others;
  }
  if (gone.token != 0 && !record_.has_joined) {
    // This engine has never joined, so nothing was granted and nothing must be removed.
    record_.CompleteRemovals();
  } else if (is_coordinator_) {
    if (gone.token != 0) record_.removals[gone.token].is_told = true;
    coordinator_.TellRemoval(gone.token, changes, now_ms);
  } else if (membership_.is_joined()) {
    if (gone.token != 0) record_.removals[gone.token].is_told = true;
    membership_.TellRemoval(gone.token, gone, now_ms);
  }
  if (IsUnused()) End();
  return true;
}

void PortParticipant::WishCache(uint64_t bytes, uint64_t limit) {
  YieldIfSucceeded();
  if (bytes == record_.cache.bytes && limit == record_.cache.limit) return;
  record_.cache.bytes = bytes;
  record_.cache.limit = limit;
  if (bytes == 0) record_.TakeGrant(UINT64_MAX);
  if (is_coordinator_) {
    coordinator_.caches().OnOwnWish();
  } else {
    membership_.TellCacheWish();
  }
}

// True if a server of this engine on the port has a cache.
bool PortParticipant::HasCached() const {
  bool has_cached = false;
  const auto look = [&](const peer::Register& registered) {
    has_cached = has_cached || (registered.flags & peer::kEntryCached) != 0;
  };
  record_.own.ForEach(look);
  for (const peer::Register& wanted : record_.queued) look(wanted);
  for (const auto& [token, wanted] : record_.asked) look(wanted);
  return has_cached;
}

// Gives up the memory for a cache if registrations have failed and no server with a cache is left.
void PortParticipant::WishNothingIfUnused() {
  if (!std::exchange(record_.has_failed, false)) return;
  if (record_.cache.bytes != 0 && !HasCached()) WishCache(0, 0);
}

void PortParticipant::Leave() {
  if (IsUnused()) End();
}

void PortParticipant::Reserve(const std::vector<std::string>& prefixes) {
  // Ignore an unchanged list: JavaScript passes it whenever a server adds a prefix.
  if (prefixes == reserved_) return;
  reserved_ = prefixes;
  std::vector<UrlPrefix> reserved;
  for (const std::string& text : prefixes) {
    UrlPrefix parsed;
    const bool is_sound = ParseUrlPrefix(text, &parsed) == PrefixError::kNone &&
                          parsed.port == record_.number && reserved.size() < limits::kEntriesMax;
    if (is_sound) reserved.push_back(std::move(parsed));
  }
  record_.Reserve(std::move(reserved));
}

int PortParticipant::Contribute(const std::string& address, uint32_t server_id) {
  const bool is_full = record_.sockets.size() >= limits::kSharedSocketsMax;
  if (!record_.AddSocket(address)) return is_full ? ENOSPC : EEXIST;
  record_.sockets.back().accepted_by = server_id;
  if (is_coordinator_) {
    coordinator_.TellSocket(address);
  } else {
    membership_.TellSocket(address);
  }
  return 0;
}

void PortParticipant::Withdraw(const std::string& address) {
  const auto found =
      std::find_if(record_.sockets.begin(), record_.sockets.end(),
                   [&](const PortRecord::Socket& socket) { return socket.address == address; });
  if (found == record_.sockets.end()) return;
  if (is_coordinator_ && !coordinator_.has_links() && record_.own.server_count() <= 1) {
    record_.sockets.erase(found);
    return;
  }
  found->accepted_by = 0;
  record_.EnsureAccepted();
}

// Sets the terms (certificate rules) of a registration's prefixes. Returns false if none changes.
bool PortParticipant::SetTerms(peer::Register* registered, const TermsOf& terms_of) {
  bool is_changed = false;
  for (peer::PrefixItem& item : registered->prefixes) {
    std::string terms = terms_of(item.text);
    is_changed = is_changed || terms != item.terms;
    item.terms = std::move(terms);
  }
  return is_changed;
}

void PortParticipant::CheckTerms(uint32_t server_id, const TermsOf& terms_of,
                                 RegistrationResult* conflict) {
  record_.ForRegistrations(server_id, [&](peer::Register* registered) {
    peer::Register changed = *registered;
    if (conflict->error != 0 || !SetTerms(&changed, terms_of)) return;
    const auto found = record_.state.CheckTerms(record_.self.id, changed);
    if (!found) return;
    conflict->error = found->error;
    conflict->pid = record_.PidOf(found->member);
    conflict->prefix = found->prefix;
    conflict->queue = found->queue;
    conflict->wanted = found->wanted;
    conflict->reason = found->reason;
  });
}

void PortParticipant::ApplyTerms(uint32_t server_id, const TermsOf& terms_of, uint64_t now_ms) {
  YieldIfSucceeded();
  bool is_changed = false;
  record_.ForRegistrations(server_id, [&](peer::Register* registered) {
    if (!SetTerms(registered, terms_of)) return;
    is_changed = true;
    const bool is_asked = record_.asked.contains(registered->token);
    if (is_asked) membership_.ChangeTermsOfAsked(registered->token);
  });
  if (!is_changed || !record_.own.HasServer(server_id)) return;
  record_.own.ForEachOf(server_id, [&](const peer::Register& registered) {
    for (const peer::Entry& entry : record_.state.EntriesOf(record_.self.id, registered)) {
      record_.state.AddEntry(entry, now_ms);
      if (is_coordinator_) coordinator_.TellEntry(entry);
    }
  });
  if (!is_coordinator_) membership_.TellAgain(server_id);
}

// -- Inputs of links and time.

// Steps down if another member has succeeded this coordinator, whose process may have been stopped.
// Must be called before each input: what a succeeded coordinator decides does not reach its
// successor's members. Members that do not know the successor join it when their links close.
void PortParticipant::YieldIfSucceeded() {
  if (!is_coordinator_ || !record_.effects->IsSucceeded(coordinator_.rank())) return;
  is_coordinator_ = false;
  coordinator_.StepDown();
  membership_.SeekSoon();
}

bool PortParticipant::OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms) {
  YieldIfSucceeded();
  const bool is_welcome = is_coordinator_ && coordinator_.OnVisitor(link, who, now_ms);
  Settle(now_ms);
  return is_welcome;
}

bool PortParticipant::OnFrame(LinkId link, const peer::Frame& frame, const std::string& address,
                              uint64_t now_ms) {
  YieldIfSucceeded();
  bool is_sound;
  if (is_coordinator_) {
    is_sound = coordinator_.OnFrame(link, frame, address, now_ms);
    if (!is_sound) coordinator_.OnBroken(link, now_ms);
  } else {
    is_sound = membership_.OnFrame(link, frame, address, now_ms);
    if (!is_sound) membership_.OnBroken(link, now_ms);
  }
  Settle(now_ms);
  return is_sound;
}

void PortParticipant::OnBroken(LinkId link, uint64_t now_ms) {
  YieldIfSucceeded();
  if (is_coordinator_) {
    coordinator_.OnBroken(link, now_ms);
  } else {
    membership_.OnBroken(link, now_ms);
  }
  Settle(now_ms);
}

void PortParticipant::OnDoubt(uint64_t now_ms) {
  YieldIfSucceeded();
  if (!is_coordinator_) membership_.OnDoubt();
  Settle(now_ms);
}

void PortParticipant::OnApplied(const Applied& applied, uint64_t now_ms) {
  YieldIfSucceeded();
  if (is_coordinator_ && applied.link == 0) {
    coordinator_.OnApplied(applied.serial, now_ms);
  } else if (!is_coordinator_) {
    membership_.OnApplied(applied);
  }
  Settle(now_ms);
}

void PortParticipant::Tick(uint64_t now_ms) {
  YieldIfSucceeded();
  if (is_coordinator_) {
    coordinator_.Tick(now_ms);
  } else {
    membership_.Tick(now_ms);
  }
  Settle(now_ms);
}

bool PortParticipant::NeedsTicks() const {
  return is_coordinator_ ? !coordinator_.IsIdle()
                         : !membership_.IsIdle() || record_.state.NextExpiry().has_value();
}

void PortParticipant::SayGoodbye(uint64_t now_ms) {
  if (is_coordinator_) {
    coordinator_.SayGoodbye(now_ms);
  } else {
    membership_.SayGoodbye();
  }
}

// Makes this engine the coordinator after it has taken the meeting place.
void PortParticipant::TakePlace(const PortSuccession::Victory& victory, uint64_t now_ms) {
  const bool is_founder = !record_.has_joined && record_.sockets.empty();
  is_coordinator_ = true;
  coordinator_.Begin(victory, now_ms);
  // The founder of a port accepts visitors only when it has a listening socket: otherwise a visitor
  // would open one of its own, and the two would conflict.
  if (!is_founder) record_.effects->OpenMeeting();
  for (const auto& [token, gone, changes] : record_.TakeUntold(now_ms)) {
    coordinator_.TellRemoval(token, changes, now_ms);
  }
  coordinator_.RegisterAgain(now_ms);
  for (const peer::Register& wanted : std::exchange(record_.queued, {})) {
    coordinator_.RegisterQueued(wanted, now_ms);
  }
  coordinator_.SyncAll();
  if (IsUnused()) End();
}

// Must be called after each input: becomes the coordinator, or leaves the port, if it is time to.
void PortParticipant::Settle(uint64_t now_ms) {
  const auto victory = membership_.TakeWin();
  if (!is_over_ && !is_coordinator_ && victory) TakePlace(*victory, now_ms);
  WishNothingIfUnused();
  const bool has_heard = std::exchange(record_.has_completed_removal, false);
  const bool is_done = has_heard && record_.WantsNothing() && record_.removals.empty();
  if (!is_over_ && (is_done || (!is_coordinator_ && membership_.is_over()))) End();
}

// Leaves the port. The lanes keep the last routes, by which remaining connections find owners.
void PortParticipant::End() {
  record_.CompleteRemovals();
  record_.effects->GrantCache(UINT64_MAX);
  is_over_ = true;
}

}  // namespace httpsys::sharing
