#include "sharing/port_coordinator.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {
namespace {

bool IsSecure(const PortState& state) { return state.entries().index().HasScheme(true); }

// Returns true if another server has the prefix.
bool IsOthers(const Conflict& conflict) {
  return conflict.error == EADDRINUSE && conflict.reason != ConflictReason::kTerms;
}

void Refuse(PortEffects* effects, LinkId link, peer::RefusalReason reason) {
  peer::Refusal refusal;
  refusal.reason = static_cast<uint8_t>(reason);
  effects->Send(link, peer::FrameType::kRefusal, peer::Encode(refusal));
}

}  // namespace

using peer::FrameType;

// -- The coordinator's term.

void PortCoordinator::Begin(const PortSuccession::Victory& victory, uint64_t now_ms) {
  // If this engine is new on the port, it has heard from one coordinator at most.
  const bool is_newcomer = !std::exchange(record_->has_joined, true);
  const bool is_outdated = std::exchange(record_->is_outdated, false);
  may_miss_members_ = is_outdated || is_newcomer;
  // This engine might not know all caches if it is new on the port; or if its state is outdated,
  // and it has met another coordinator or the coordinator that it lost may still live.
  may_miss_caches_ =
      is_newcomer ||
      (is_outdated && (record_->has_met_another || !effects_->IsGone(record_->lost.id)));
  descent_.Begin(victory);
  tell_at_ms_ = now_ms;
  const bool may_come = may_miss_members_ || !record_->state.members().empty();
  if (may_come) reunion_deadline_ms_ = now_ms + limits::kReunionMs;
  caches_.Begin(may_come);
}

bool PortCoordinator::IsIdle() const {
  const bool has_visitor = std::any_of(sessions_.begin(), sessions_.end(),
                                       [](const auto& item) { return item.second.id == 0; });
  return !has_visitor && confirmations_.empty() && !queries_.has_any() &&
         reunion_deadline_ms_ == 0 && !descent_.is_descending() &&
         !record_->state.NextExpiry().has_value();
}

void PortCoordinator::StepDown() {
  for (const auto& [link, session] : sessions_) effects_->CloseLink(link);
  sessions_.clear();
  caches_.End();
  queries_.Clear();
  for (const Confirmation& confirmation : std::exchange(confirmations_, {})) {
    if (confirmation.link == 0 && !confirmation.is_removal) FinishConfirmation(confirmation);
  }
  // The successor will be informed of all removals again.
  for (auto& [token, removal] : record_->removals) removal.is_told = false;
  reunion_deadline_ms_ = 0;
  // If the successor ends before it has sent its state, this engine may coordinate again. Other
  // members may then know more than its record.
  record_->is_outdated = true;
  record_->has_met_another = true;
  has_unsynced_ = false;
  descent_.End();
}

void PortCoordinator::Tick(uint64_t now_ms) {
  CheckConfirmations(now_ms);
  queries_.Finish(now_ms);
  const uint32_t old_rank = rank();
  descent_.Tick(now_ms);
  if (rank() != old_rank) reunion_deadline_ms_ = now_ms + limits::kReunionMs;
  if (rank() != 0 && reunion_deadline_ms_ != 0) TellSuccession(now_ms);
  if (reunion_deadline_ms_ != 0 && now_ms >= reunion_deadline_ms_) EndReunion(now_ms);
  if (!may_miss_caches_ && rank() == 0)
    caches_.EndReunionIfAll([this](uint64_t id) { return HasReturned(id); });
  DropSilent(now_ms);
  ExpireEntries(now_ms);
}

// Ends the time in which members of the last term may come back. Missing members count as dead; at
// ranks above 0 only if their process has ended, because stopped members keep their prefixes.
void PortCoordinator::EndReunion(uint64_t now_ms) {
  reunion_deadline_ms_ = 0;
  for (const uint64_t id : MissingMembers()) {
    if (rank() == 0 || effects_->IsGone(id)) RemoveMember(id, now_ms);
  }
  caches_.EndReunion();
}

// Sends kDoubt to missing members, which may still wait for a stopped coordinator.
void PortCoordinator::TellSuccession(uint64_t now_ms) {
  if (now_ms < tell_at_ms_) return;
  tell_at_ms_ = now_ms + limits::kDoubtTellMs;
  const std::vector<uint64_t> missing = MissingMembers();
  if (!missing.empty()) effects_->TellDoubt(missing);
}

std::vector<uint64_t> PortCoordinator::MissingMembers() const {
  std::vector<uint64_t> missing;
  for (const auto& [id, member] : record_->state.members()) {
    if (!IsHere(id)) missing.push_back(id);
  }
  return missing;
}

void PortCoordinator::ExpireEntries(uint64_t now_ms) {
  const PortState::Expired expired = record_->state.Expire(now_ms);
  if (expired.empty()) return;
  for (const peer::Entry& entry : expired.offline) TellEntry(entry);
  for (const peer::EntryGone& gone : expired.gone) {
    Broadcast(FrameType::kEntryGone, peer::Encode(gone));
  }
  SyncAll();
}

void PortCoordinator::SayGoodbye(uint64_t now_ms) {
  record_->own.ForEachServer([&](uint32_t server_id) {
    TellChanges(record_->RemoveEntries(record_->self.id, {server_id, 0, 1, {}, 0}, now_ms));
  });
  SyncAll();
}

// -- Links.

bool PortCoordinator::OnVisitor(LinkId link, const Credentials& who, uint64_t now_ms) {
  if (sessions_.size() >= limits::kMembersMax + limits::kVisitorsMax) return false;
  Session session;
  session.since_ms = now_ms;
  session.credentials = who;
  sessions_[link] = session;
  return true;
}

bool PortCoordinator::OnFrame(LinkId link, const peer::Frame& frame, const std::string& address,
                              uint64_t now_ms) {
  // The frame is the late answer (kPong) of the stopped coordinator that this engine has succeeded.
  if (link != 0 && link == descent_.watch()) return true;
  const auto found = sessions_.find(link);
  if (found == sessions_.end()) return false;
  Session& session = found->second;
  // The member sends requests, but does not read the answers.
  if (effects_->UnsentBytes(link) > limits::kPeerUnsentBytesMax) return false;
  // Ignore requests of a closed link. If this coordinator was stopped, the member may have moved to
  // a successor since, and may have been refused there.
  const bool is_question = frame.type == FrameType::kHello || frame.type == FrameType::kRegister;
  if (is_question && effects_->HasEnded(link)) return true;
  if (frame.type == FrameType::kHello) return OnHello(link, frame.payload, now_ms);
  if (frame.type == FrameType::kPing) {
    effects_->Send(link, FrameType::kPong, peer::Encode(peer::Pong{record_->self.id}));
    return true;
  }
  if (frame.type == FrameType::kStateQuery) {
    std::vector<LinkId> members;
    for (const auto& [other, each] : sessions_) {
      if (each.id != 0) members.push_back(other);
    }
    queries_.Begin(link, frame.payload, members, now_ms);
    return true;
  }
  if (session.id == 0) return false;
  switch (frame.type) {
    case FrameType::kRegister:
      return OnRegister(link, frame.payload, now_ms);
    case FrameType::kUnregister:
      return OnUnregister(link, frame.payload, now_ms);
    case FrameType::kEntry:
      return OnKnown(link, frame.payload, now_ms);
    case FrameType::kSync:
      if (std::exchange(has_unsynced_, false)) SyncAll();
      return true;
    case FrameType::kSocket:
      // Do not pass on known sockets: each costs a descriptor while a member does not read.
      if (!address.empty() && record_->AddSocket(address)) {
        TellSocket(address, link);
        record_->EnsureAccepted();
      }
      return true;
    case FrameType::kSynced: {
      peer::Sync sync;
      if (!peer::Decode(frame.payload, &sync)) return false;
      session.synced = sync.serial;
      session.has_synced = true;
      CheckConfirmations(now_ms);
      return true;
    }
    case FrameType::kMoving:
      session.is_moving = true;
      return true;
    case FrameType::kCacheWish:
      // A newcomer sends its wish before it is a member. A reunion that is complete ends first, so
      // that the wish can be granted.
      if (!may_miss_caches_ && rank() == 0)
        caches_.EndReunionIfAll([this](uint64_t id) { return HasReturned(id); });
      return caches_.OnWish(link, session.credentials.pid, frame.payload);
    case FrameType::kState:
      queries_.OnState(link, frame.payload, now_ms);
      return true;
    default:
      // Ignore frame types of later protocol versions.
      return true;
  }
}

bool PortCoordinator::OnHello(LinkId link, std::string_view payload, uint64_t now_ms) {
  peer::Hello hello;
  Session& session = sessions_[link];
  if (session.id != 0 || !peer::Decode(payload, &hello) || hello.id == 0 ||
      hello.id == record_->self.id) {
    return false;
  }
  if (hello.newest < peer::kProtocolOldest || hello.oldest > peer::kProtocol) {
    Refuse(effects_, link, peer::RefusalReason::kVersion);
    return true;
  }
  if (IsHere(hello.id)) return false;
  // + 1: members() lacks this engine. A member of the last term may return to a full port.
  const auto& members = record_->state.members();
  if (!members.contains(hello.id) && members.size() + 1 >= limits::kMembersMax) {
    Refuse(effects_, link, peer::RefusalReason::kFull);
    return true;
  }
  const peer::Member member{hello.id, session.credentials.pid, hello.thread, peer::kProtocol,
                            hello.program};
  if (!record_->state.AddMember(member)) return false;
  Broadcast(FrameType::kMember, peer::Encode(member), link);
  session.id = hello.id;
  peer::Welcome welcome;
  welcome.coordinator = record_->self.id;
  effects_->Send(link, FrameType::kWelcome, peer::Encode(welcome));
  SendSnapshot(link, now_ms);
  return true;
}

void PortCoordinator::SendSnapshot(LinkId link, uint64_t now_ms) {
  effects_->Send(link, FrameType::kMember, peer::Encode(record_->self));
  for (const auto& [id, member] : record_->state.members()) {
    effects_->Send(link, FrameType::kMember, peer::Encode(member));
  }
  for (const StateEntry& there : record_->state.entries()) {
    SendEntry(link, there, now_ms);
  }
  effects_->TellSocket(link, {});
  if (IsSecure(record_->state)) {
    const peer::TicketKeys keys = effects_->TellTicketKeys();
    effects_->Send(link, FrameType::kTicketKeys, peer::Encode(keys));
    // With other members, told_key_ stays: TellTicketKeys() sends them a newer key.
    if (sessions_.size() == 1 && !keys.keys.empty()) told_key_ = keys.keys[0].bytes;
  }
  effects_->Send(link, FrameType::kSync, peer::Encode(peer::Sync{serial_}));
}

void PortCoordinator::SendEntry(LinkId link, const StateEntry& there, uint64_t now_ms) {
  peer::Entry entry = there.entry;
  if (there.is_absent()) {
    entry.absent_ms =
        static_cast<uint32_t>(there.absent_until_ms > now_ms ? there.absent_until_ms - now_ms : 1);
  }
  effects_->Send(link, FrameType::kEntry, peer::Encode(entry));
}

bool PortCoordinator::TellsTicketKeys() const {
  return !sessions_.empty() && IsSecure(record_->state);
}

void PortCoordinator::TellTicketKeys() {
  if (!TellsTicketKeys()) return;
  const peer::TicketKeys keys = effects_->TellTicketKeys();
  if (keys.keys.empty() || keys.keys[0].bytes == told_key_) return;
  told_key_ = keys.keys[0].bytes;
  Broadcast(FrameType::kTicketKeys, peer::Encode(keys));
}

void PortCoordinator::Broadcast(FrameType type, const std::string& payload, LinkId except) {
  for (const auto& [link, session] : sessions_) {
    if (session.id != 0 && link != except) effects_->Tell(link, type, payload);
  }
}

void PortCoordinator::TellSocket(const std::string& address, LinkId except) {
  for (const auto& [link, session] : sessions_) {
    if (session.id != 0 && link != except) effects_->TellSocket(link, address);
  }
}

void PortCoordinator::TellEntry(const peer::Entry& entry) {
  Broadcast(FrameType::kEntry, peer::Encode(entry));
}

void PortCoordinator::TellChanges(const std::vector<PortRecord::Change>& changes) {
  for (const auto& [entry, is_absent] : changes) {
    if (is_absent) {
      TellEntry(entry);
    } else {
      const peer::EntryGone gone{entry.member, entry.server_id, entry.prefix_id};
      Broadcast(FrameType::kEntryGone, peer::Encode(gone));
    }
  }
}

bool PortCoordinator::IsHere(uint64_t member) const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [=](const auto& item) { return item.second.id == member; });
}

// Returns the session of a member, or nullptr. Does not return a member that is moving away or has
// closed its link: it will be missing soon.
const PortCoordinator::Session* PortCoordinator::FindPresent(uint64_t member) const {
  for (const auto& [link, session] : sessions_) {
    if (session.id != member || session.is_moving || effects_->HasEnded(link)) continue;
    return &session;
  }
  return nullptr;
}

bool PortCoordinator::HasReturned(uint64_t member) const {
  const Session* const session = FindPresent(member);
  return member == record_->self.id || (session != nullptr && session->has_synced);
}

bool PortCoordinator::IsAwaiting() const {
  if (may_miss_members_ && reunion_deadline_ms_ != 0) return true;
  return (reunion_deadline_ms_ != 0 || rank() != 0) && !MissingMembers().empty();
}

// Removes the entry of the prefix in conflict if its owner has lost it; returns true then. An owner
// loses its prefix if its process has ended; or if it is not connected, this coordinator may have
// missed changes, and the last coordinator gave the prefix to the member that registers it again.
bool PortCoordinator::GivesWay(const Conflict& conflict, uint64_t member,
                               const peer::Register& wanted, uint64_t now_ms) {
  const uint64_t owner = conflict.member;
  if (owner == record_->self.id || owner == 0) return false;
  if (!IsHere(owner) && effects_->IsGone(owner)) {
    TellMemberGone(owner, now_ms);
    return true;
  }
  const bool is_told = wanted.again == peer::kAgain && member != record_->self.id;
  if (!is_told || !IsOthers(conflict) || !may_miss_members_ || FindPresent(owner) != nullptr)
    return false;
  const std::optional<peer::EntryGone> gone = record_->state.RemoveOwner(owner, conflict.prefix);
  if (gone) Broadcast(FrameType::kEntryGone, peer::Encode(*gone));
  return gone.has_value();
}

// Decides on a registration, and adds its entries if there is no conflict. Afterwards SyncAll()
// must make the members apply them.
RegistrationResult PortCoordinator::Decide(uint64_t member, const peer::Register& wanted,
                                           uint64_t now_ms) {
  RegistrationResult result;
  result.token = wanted.token;
  PortState& state = record_->state;
  auto conflict = state.Check(member, wanted);
  while (conflict && GivesWay(*conflict, member, wanted, now_ms)) {
    conflict = state.Check(member, wanted);
  }
  if (conflict) {
    result.error = conflict->error;
    result.pid = record_->PidOf(conflict->member);
    result.prefix = conflict->prefix;
    result.queue = conflict->queue;
    result.reason = conflict->reason;
    result.wanted = conflict->wanted;
    if (wanted.again == peer::kFirstTime || !IsOthers(*conflict)) return result;
    // Other members own these prefixes now: remove the entries that the member had.
    peer::Unregister gone{wanted.server_id, 0, 0, {}, 0};
    for (const peer::PrefixItem& item : wanted.prefixes) gone.prefix_ids.push_back(item.id);
    const auto changes = record_->RemoveEntries(member, gone, now_ms);
    if (!changes.empty()) TellRemoval(0, changes, now_ms);
    return result;
  }
  for (const peer::Entry& entry : state.EntriesOf(member, wanted)) {
    if (!state.AddEntry(entry, now_ms)) result.error = EINVAL;
    TellEntry(entry);
  }
  if (wanted.again == peer::kFirstTime) return result;
  // Other members may have reported these prefixes as absent before their owner came back.
  for (const peer::EntryGone& gone : state.RemoveAbsent(wanted)) {
    Broadcast(FrameType::kEntryGone, peer::Encode(gone));
  }
  return result;
}

bool PortCoordinator::Register(peer::Register wanted, RegistrationResult* result, uint64_t now_ms) {
  const uint32_t token = wanted.token;
  *result = Decide(record_->self.id, wanted, now_ms);
  record_->has_failed = record_->has_failed || result->error != 0;
  if (result->error != 0) return true;
  record_->AddOwn(std::move(wanted));
  if (sessions_.empty()) {
    record_->Publish();
    return true;
  }
  Confirm({.serial = SyncAll(), .token = token}, now_ms);
  return false;
}

void PortCoordinator::RegisterQueued(const peer::Register& wanted, uint64_t now_ms) {
  RegistrationResult result = Decide(record_->self.id, wanted, now_ms);
  if (result.error == 0) {
    record_->AddOwn(wanted);
    Confirm({.serial = SyncAll(), .token = wanted.token}, now_ms);
  } else {
    record_->has_failed = true;
    effects_->Complete(std::move(result), true);
  }
}

void PortCoordinator::RegisterAgain(uint64_t now_ms) {
  record_->own.ForEach([&](peer::Register& own) {
    peer::Register again = own;
    again.again = peer::kAgain;
    again.token = 0;
    RegistrationResult result = Decide(record_->self.id, again, now_ms);
    own.again = result.error == 0 ? peer::kFirstTime : peer::kAgainAfterLoss;
    if (result.error != 0) effects_->Complete(std::move(result), true);
  });
}

bool PortCoordinator::OnRegister(LinkId link, std::string_view payload, uint64_t now_ms) {
  peer::Register wanted;
  if (!peer::Decode(payload, &wanted)) return false;
  const RegistrationResult result = Decide(sessions_[link].id, wanted, now_ms);
  if (result.error != 0) {
    const peer::Registered answer{wanted.token,  static_cast<uint32_t>(result.error), result.pid,
                                  result.prefix, static_cast<uint8_t>(result.reason), result.queue};
    effects_->Send(link, FrameType::kRegistered, peer::Encode(answer));
    return true;
  }
  Confirm({.serial = SyncAll(), .link = link, .token = wanted.token}, now_ms);
  return true;
}

bool PortCoordinator::OnUnregister(LinkId link, std::string_view payload, uint64_t now_ms) {
  peer::Unregister gone;
  if (!peer::Decode(payload, &gone)) return false;
  TellChanges(record_->RemoveEntries(sessions_[link].id, gone, now_ms));
  const uint32_t serial = SyncAll();
  if (gone.token != 0) {
    Confirm({.serial = serial, .link = link, .token = gone.token, .is_removal = true}, now_ms);
  }
  return true;
}

// Handles an absent entry that a returning member reports.
bool PortCoordinator::OnKnown(LinkId link, std::string_view payload, uint64_t now_ms) {
  peer::Entry entry;
  if (!peer::Decode(payload, &entry) || entry.absent_ms == 0) return false;
  StateEntry told;
  const bool is_prefix = ParseEntry(record_->number, entry.prefix, &told);
  // The prefix is not added as absent if it is expected: another member has reported it, or its
  // owner is connected and has registered its prefixes. An owner that is not connected may have
  // left the prefix: then the absent entry stands beside the owner's until the owner has come back.
  const auto has_returned = [&](const StateEntry& there) {
    return HasReturned(there.entry.member) || there.IsOf(entry.member, entry.server_id);
  };
  const bool is_expected =
      is_prefix && record_->state.IsExpected(told.key, now_ms + entry.absent_ms, has_returned);
  const bool is_over = (entry.flags & peer::kEntryOffline) != 0 && HasReturned(entry.member);
  has_unsynced_ = true;
  if (!is_expected && !is_over && record_->state.AddEntry(entry, now_ms)) {
    TellEntry(entry);
    return true;
  }
  const peer::EntryGone gone{entry.member, entry.server_id, entry.prefix_id};
  const StateEntry* const same =
      record_->state.entries().Find(gone.member, gone.server_id, gone.prefix_id);
  if (same == nullptr) effects_->Send(link, FrameType::kEntryGone, peer::Encode(gone));
  // Send this coordinator's absent entry again: the member has replaced it by its own.
  const StateEntry* const there = record_->state.entries().FindKey(
      told.key, [](const StateEntry& each) { return each.is_absent(); });
  if (there != nullptr) SendEntry(link, *there, now_ms);
  return true;
}

void PortCoordinator::TellRemoval(uint32_t token, const std::vector<PortRecord::Change>& changes,
                                  uint64_t now_ms) {
  TellChanges(changes);
  const uint32_t serial = SyncAll();
  if (token != 0) Confirm({.serial = serial, .token = token, .is_removal = true}, now_ms);
}

uint32_t PortCoordinator::SyncAll() {
  const uint32_t serial = ++serial_;
  Broadcast(FrameType::kSync, peer::Encode(peer::Sync{serial}));
  record_->Publish(Applied{0, serial});
  return serial;
}

void PortCoordinator::OnApplied(uint32_t serial, uint64_t now_ms) {
  for (Confirmation& confirmation : confirmations_) {
    if (confirmation.serial <= serial) confirmation.is_applied = true;
  }
  CheckConfirmations(now_ms);
}

void PortCoordinator::Confirm(Confirmation confirmation, uint64_t now_ms) {
  confirmation.deadline_ms = now_ms + limits::kConfirmMs;
  confirmations_.push_back(confirmation);
}

void PortCoordinator::CheckConfirmations(uint64_t now_ms) {
  std::erase_if(confirmations_, [&](const Confirmation& confirmation) {
    const bool is_confirmed =
        confirmation.is_applied &&
        std::all_of(sessions_.begin(), sessions_.end(), [&](const auto& item) {
          return item.second.id == 0 || item.second.synced >= confirmation.serial;
        });
    const bool is_over = is_confirmed && !(confirmation.is_removal && IsAwaiting());
    // The deadline is for other members, which may hang; this engine's lanes are always awaited.
    const bool is_late = confirmation.is_applied && now_ms >= confirmation.deadline_ms;
    if (!is_over && !is_late) return false;
    FinishConfirmation(confirmation);
    return true;
  });
}

void PortCoordinator::FinishConfirmation(const Confirmation& confirmation) {
  const auto& [serial, deadline_ms, link, token, is_removal, is_applied] = confirmation;
  if (link != 0) {
    const peer::Registered answer{token, 0, 0, {}, 0, {}};
    effects_->Send(link, FrameType::kRegistered, peer::Encode(answer));
  } else if (!is_removal) {
    RegistrationResult result;
    result.token = token;
    effects_->Complete(std::move(result), true);
  } else if (record_->removals.erase(token) != 0) {
    record_->CompleteRemoval(token);
  }
}

// -- Members that leave.

void PortCoordinator::OnBroken(LinkId link, uint64_t now_ms) {
  if (link != 0 && link == descent_.watch()) {
    // The succeeded coordinator has yielded, and comes back as a member; or its process has ended.
    for (const uint64_t id : MissingMembers()) {
      if (effects_->IsGone(id)) RemoveMember(id, now_ms);
    }
    reunion_deadline_ms_ = now_ms + limits::kReunionMs;
    return descent_.OnBroken(now_ms);
  }
  const auto found = sessions_.find(link);
  if (found == sessions_.end()) return;
  const uint64_t id = found->second.id;
  const bool is_moving = found->second.is_moving;
  sessions_.erase(found);
  caches_.OnBroken(link);
  std::erase_if(confirmations_,
                [=](const Confirmation& confirmation) { return confirmation.link == link; });
  if (is_moving) {
    // The member had moved to a successor of this coordinator, which has ended since: otherwise
    // this coordinator would have yielded.
    reunion_deadline_ms_ = now_ms + limits::kReunionMs;
    may_miss_members_ = true;
    may_miss_caches_ = true;
  }
  if (id != 0 && (!is_moving || effects_->IsGone(id))) RemoveMember(id, now_ms);
  CheckConfirmations(now_ms);
  queries_.OnBroken(link, now_ms);
}

void PortCoordinator::RemoveMember(uint64_t id, uint64_t now_ms) {
  TellMemberGone(id, now_ms);
  SyncAll();
}

// Informs the members that a member has gone, and which of its prefixes are not expected back
// because other owners share them. Members must not compute that themselves: one that has just
// unregistered a shared prefix would get another result.
void PortCoordinator::TellMemberGone(uint64_t id, uint64_t now_ms) {
  const std::vector<peer::EntryGone> shared = record_->state.RemoveMember(id, now_ms);
  Broadcast(FrameType::kMemberGone, peer::Encode(peer::MemberGone{id}));
  for (const peer::EntryGone& gone : shared) {
    Broadcast(FrameType::kEntryGone, peer::Encode(gone));
  }
}

// Closes links that have sent no kHello within kStateMs: each occupies the place of a member.
void PortCoordinator::DropSilent(uint64_t now_ms) {
  std::vector<LinkId> silent;
  for (const auto& [link, session] : sessions_) {
    if (session.id == 0 && now_ms - session.since_ms >= limits::kStateMs) silent.push_back(link);
  }
  for (const LinkId link : silent) {
    OnBroken(link, now_ms);
    effects_->CloseLink(link);
  }
}

}  // namespace httpsys::sharing
