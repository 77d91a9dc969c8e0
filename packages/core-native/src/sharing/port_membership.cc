#include "sharing/port_membership.h"

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "sharing/port_queries.h"

namespace httpsys::sharing {
namespace {

// Delay before a member takes the place of a dead coordinator if it is new or wants nothing now.
// Members that know the port and stay there try at once.
constexpr uint64_t kPatienceMs = 100;
constexpr uint64_t kRetryMs = 5;
// How long a member that has prefixes waits before it tries again to join.
constexpr uint64_t kRejoinMs = 1000;
// Largest errno that is accepted from a coordinator: JavaScript looks up the errno's name.
constexpr uint32_t kErrnoMax = 4095;

}  // namespace

using peer::FrameType;

// -- Joining and leaving.

bool PortMembership::IsIdle() const {
  return is_joined_ && answer_deadline_ms_ == 0 && !succession_.is_doubting();
}

void PortMembership::Tick(uint64_t now_ms) {
  if (record_->has_joined && !record_->removals.empty()) {
    record_->GiveUpRemovals(now_ms, limits::kRemovalMs);
    if (record_->WantsNothing() && record_->removals.empty()) {
      is_over_ = true;
      return;
    }
  }
  if (link_ != 0) OnFinding(succession_.Tick(AsMember(), now_ms), now_ms);
  if (won_) return;
  if (is_joined_) {
    const bool is_late = answer_deadline_ms_ != 0 && now_ms >= answer_deadline_ms_;
    if (is_late) GiveUpAsked(now_ms);
    return;
  }
  if (join_deadline_ms_ != 0 && now_ms >= join_deadline_ms_) {
    RegistrationResult why;
    why.error = ETIMEDOUT;
    why.pid = coordinator_.pid;
    FailJoining(why, now_ms);
    return;
  }
  if (link_ == 0 && now_ms >= retry_at_ms_) Seek(now_ms);
}

// Looks for the coordinator, or takes the meeting place if there is none.
void PortMembership::Seek(uint64_t now_ms) {
  if (join_deadline_ms_ == 0) join_deadline_ms_ = now_ms + limits::kCoordinatorMs;
  retry_at_ms_ = now_ms + kRetryMs;
  const Visit visit = effects_->VisitMeeting();
  switch (visit.result) {
    case Visit::Result::kNobody:
      SeekPlace(now_ms);
      return;
    case Visit::Result::kUnreachable:
      FailByStranger(now_ms);
      return;
    case Visit::Result::kRefused: {
      coordinator_ = visit.who;
      RegistrationResult why;
      why.error = visit.error;
      why.pid = visit.who.pid;
      why.uid = visit.who.uid;
      FailJoining(why, now_ms);
      return;
    }
    case Visit::Result::kLinked:
      coordinator_ = visit.who;
      link_ = visit.link;
      rank_ = visit.rank;
      record_->has_met_another = (record_->is_outdated && record_->has_met_another) ||
                                 record_->lost.id == 0 || visit.who.pid != record_->lost.pid;
      record_->is_outdated = true;
      succession_.Expect(now_ms);
      peer::Hello hello;
      hello.id = record_->self.id;
      hello.thread = record_->self.thread;
      hello.program = record_->self.program;
      effects_->Send(link_, FrameType::kHello, peer::Encode(hello));
  }
}

void PortMembership::SeekPlace(uint64_t now_ms) {
  const uint64_t waited_ms = now_ms + limits::kCoordinatorMs - join_deadline_ms_;
  const bool is_patient = !record_->has_joined || record_->WantsNothing();
  if (is_patient && waited_ms < kPatienceMs) return;
  if (effects_->TakeMeeting(0) != 0) {
    FailByStranger(now_ms);
    return;
  }
  join_deadline_ms_ = 0;
  won_.emplace();
}

// If another user has the name of the port and does not answer, gives up and returns true. Returns
// false if this user may have the name, or the kernel does not say who has it.
bool PortMembership::FailByStranger(uint64_t now_ms) {
  if (now_ms < stranger_look_at_ms_) return false;
  stranger_look_at_ms_ = now_ms + limits::kStrangerLookMs;
  if (!effects_->IsStrangers(&coordinator_)) return false;
  RegistrationResult why;
  why.error = EACCES;
  why.pid = coordinator_.pid;
  why.uid = coordinator_.uid;
  FailJoining(why, now_ms);
  return true;
}

// Reports to JavaScript, once, that another user has the name of the port: if no registration waits
// for an answer, JavaScript learns it in no other way.
void PortMembership::TellStranger(RegistrationResult why) {
  record_->own.ForEach([&](const peer::Register& registered) {
    if (std::exchange(is_stranger_told_, true)) return;
    why.prefix = registered.prefixes[0].text;
    effects_->Complete(why, true);
  });
}

void PortMembership::FailJoining(const RegistrationResult& why, uint64_t now_ms) {
  record_->FailAll(why);
  told_.reset();
  succession_.End();
  if (link_ != 0) effects_->CloseLink(std::exchange(link_, 0));
  // ETIMEDOUT: the coordinator may only be stopped. Removals keep trying for kRemovalMs.
  const bool has_removals = why.error == ETIMEDOUT && !record_->removals.empty();
  if (record_->own.empty() && !has_removals) {
    is_over_ = true;
    return;
  }
  if (why.error == EACCES && !is_stranger_told_) TellStranger(why);
  // Until it has joined again, this engine serves its prefixes by the last routes.
  join_deadline_ms_ = 0;
  retry_at_ms_ = now_ms + (has_removals ? kRetryMs : kRejoinMs);
}

void PortMembership::SayGoodbye() {
  if (link_ == 0) return;
  for (const auto& [token, removal] : record_->removals) {
    if (removal.is_told) continue;
    effects_->Send(link_, FrameType::kUnregister, peer::Encode(removal.gone));
  }
  record_->own.ForEachServer([&](uint32_t server_id) {
    const peer::Unregister gone{server_id, 0, 1, {}, 0};
    effects_->Send(link_, FrameType::kUnregister, peer::Encode(gone));
  });
}

// -- Doubts about the coordinator.

// Only a member that knows the port can take the coordinator's place. A coordinator that has not
// welcomed this member, and so may speak another protocol, is recognized by its process id.
bool PortMembership::MaySucceed() const {
  if (!record_->has_joined || record_->WantsNothing()) return false;
  const auto& members = record_->state.members();
  return is_joined_ || std::any_of(members.begin(), members.end(), [this](const auto& each) {
           return each.second.pid == coordinator_.pid;
         });
}

PortSuccession::Member PortMembership::AsMember() const {
  const bool is_waiting = !is_joined_ || answer_deadline_ms_ != 0;
  const uint64_t id = is_joined_ ? coordinator_id_ : 0;
  return {link_, rank_, id, is_joined_, is_waiting, MaySucceed()};
}

void PortMembership::OnDoubt() {
  if (is_joined_) succession_.Doubt();
}

void PortMembership::OnFinding(PortSuccession::Finding finding, uint64_t now_ms) {
  using Finding = PortSuccession::Finding;
  switch (finding) {
    case Finding::kNothing:
      return;
    case Finding::kUnable: {
      // Inform every member of this user (empty list) until this member has joined: a newcomer does
      // not know the members, and a member that was stopped might not know new ones.
      std::vector<uint64_t> members;
      for (const auto& [id, member] : record_->state.members()) {
        if (is_joined_ && id != record_->self.id) members.push_back(id);
      }
      effects_->TellDoubt(members);
      return;
    }
    case Finding::kElsewhere:
    case Finding::kSucceeded:
      effects_->Send(link_, FrameType::kMoving, {});
      effects_->CloseLink(link_);
      (void)Part(false, now_ms);
      if (finding == Finding::kElsewhere) return Seek(now_ms);
      won_ = succession_.TakeVictory();
      join_deadline_ms_ = 0;
  }
}

// -- Links to the coordinator.

bool PortMembership::OnFrame(LinkId link, const peer::Frame& frame, const std::string& address,
                             uint64_t now_ms) {
  if (link != 0 && link == succession_.ping()) {
    OnFinding(succession_.OnPing(AsMember(), &frame, now_ms), now_ms);
    return true;
  }
  if (link == 0 || link != link_) return false;
  succession_.OnHeard(now_ms);
  return OnCoordinatorsFrame(frame, address, now_ms);
}

bool PortMembership::OnCoordinatorsFrame(const peer::Frame& frame, const std::string& address,
                                         uint64_t now_ms) {
  PortState* state = told_ != nullptr ? told_.get() : &record_->state;
  switch (frame.type) {
    case FrameType::kWelcome:
      return OnWelcome(frame.payload);
    case FrameType::kRefusal:
      return OnRefusal(frame.payload, now_ms);
    case FrameType::kMember: {
      peer::Member member;
      if (!peer::Decode(frame.payload, &member)) return false;
      return member.id == record_->self.id || state->AddMember(member);
    }
    case FrameType::kMemberGone: {
      peer::MemberGone gone;
      if (!peer::Decode(frame.payload, &gone)) return false;
      state->RemoveMember(gone.id, now_ms);
      return true;
    }
    case FrameType::kEntry:
      return OnEntry(state, frame.payload, now_ms);
    case FrameType::kEntryGone: {
      peer::EntryGone gone;
      if (!peer::Decode(frame.payload, &gone)) return false;
      state->RemoveEntry(gone);
      return true;
    }
    case FrameType::kSocket:
      if (!address.empty() && record_->AddSocket(address)) record_->EnsureAccepted();
      return true;
    case FrameType::kCacheGrant: {
      peer::CacheGrant grant;
      if (!peer::Decode(frame.payload, &grant)) return false;
      record_->cache.serial = grant.serial;
      // Without a wish, the grant answers an earlier wish and is ignored.
      if (record_->cache.bytes != 0) record_->TakeGrant(grant.bytes);
      TellCacheWish();
      return true;
    }
    case FrameType::kTicketKeys: {
      peer::TicketKeys keys;
      if (!peer::Decode(frame.payload, &keys)) return false;
      effects_->LearnTicketKeys(keys);
      return true;
    }
    case FrameType::kSync:
      return OnSync(frame.payload, now_ms);
    case FrameType::kRegistered:
      return OnRegistered(frame.payload, now_ms);
    case FrameType::kStateQuery:
      // The coordinator sends queries, but does not read the answers.
      if (effects_->UnsentBytes(link_) > limits::kPeerUnsentBytesMax) return false;
      effects_->Send(link_, FrameType::kState,
                     peer::Encode(PortQueries::Describe(*record_, effects_, frame.payload)));
      return true;
    default:
      // Ignore frame types of later protocol versions.
      return true;
  }
}

bool PortMembership::OnWelcome(std::string_view payload) {
  peer::Welcome welcome;
  if (!peer::Decode(payload, &welcome)) return false;
  if (welcome.protocol < peer::kProtocolOldest || welcome.protocol > peer::kProtocol) return false;
  coordinator_id_ = welcome.coordinator;
  // The whole state follows in frames. Requests are routed by the last state until it is complete.
  told_ = std::make_unique<PortState>(record_->number);
  return true;
}

bool PortMembership::OnRefusal(std::string_view payload, uint64_t now_ms) {
  // A coordinator that has welcomed this member cannot refuse it.
  if (is_joined_) return false;
  peer::Refusal refusal;
  if (!peer::Decode(payload, &refusal)) return false;
  RegistrationResult why;
  const bool is_full = refusal.reason == static_cast<uint8_t>(peer::RefusalReason::kFull);
  why.error = is_full ? ENOSPC : EPROTO;
  if (is_full) why.reason = ConflictReason::kMembers;
  why.pid = coordinator_.pid;
  why.peer_oldest = refusal.oldest;
  why.peer_newest = refusal.newest;
  FailJoining(why, now_ms);
  return true;
}

bool PortMembership::OnEntry(PortState* state, std::string_view payload, uint64_t now_ms) {
  peer::Entry entry;
  if (!peer::Decode(payload, &entry)) return false;
  // A prefix that this engine has unregistered meanwhile is removed again below. It is added first,
  // because it replaces an absent entry.
  const bool is_stale = told_ == nullptr && entry.member == record_->self.id &&
                        entry.absent_ms == 0 && !record_->own.HasServer(entry.server_id) &&
                        record_->asked.empty();
  if (!state->AddEntry(entry, now_ms)) return false;
  if (is_stale) state->RemoveEntry({entry.member, entry.server_id, entry.prefix_id});
  if (entry.member == record_->self.id) record_->NoteGranted(entry);
  return true;
}

// Replaces the present state by the state that the new coordinator has sent.
void PortMembership::AdoptTold(uint64_t now_ms) {
  told_->Succeed(record_->state);
  const PortState before = std::exchange(record_->state, std::move(*told_));
  told_.reset();
  // Even a newcomer may have removals: it may have left the port and come back.
  const std::vector<PortRecord::Untold> untold = record_->TakeUntold(now_ms);
  // Known entries are sent before removals, so that no prefix is missing in between.
  TellKnown(before, now_ms);
  for (const auto& [token, gone, changes] : untold) TellRemoval(token, gone, now_ms);
  AddOwnEntries(now_ms);
}

// Adds this member's entries that a new coordinator might not know; OnSync() sends them.
void PortMembership::AddOwnEntries(uint64_t now_ms) {
  std::as_const(record_->own).ForEach([&](const peer::Register& registered) {
    if (IsRefused(registered)) return;
    for (const peer::Entry& entry : record_->state.EntriesOf(record_->self.id, registered)) {
      record_->state.AddEntry(entry, now_ms);
    }
  });
}

// Returns true if another member got a prefix of the registration when the coordinator changed.
bool PortMembership::IsRefused(peer::Register registered) const {
  registered.again = peer::kAgain;
  return record_->state.Check(record_->self.id, registered).has_value();
}

// Removes the entries of registrations that the coordinator does not grant again.
void PortMembership::RemoveRefused() {
  record_->own.ForEach([&](peer::Register& registered) {
    if (!IsRefused(registered)) return;
    registered.again = peer::kAgainAfterLoss;
    for (const peer::PrefixItem& item : registered.prefixes) {
      const auto& entries = record_->state.entries();
      const StateEntry* const there = entries.Find(record_->self.id, registered.server_id, item.id);
      // Keep an absent entry: the coordinator has it from other members.
      if (there == nullptr || there->is_absent()) continue;
      record_->state.RemoveEntry({record_->self.id, registered.server_id, item.id});
    }
  });
  record_->Publish();
}

// Sends the new coordinator the entries of `before` that it does not know: it may be new on the
// port, or have missed what the last coordinator sent. Such prefixes count as those of a killed
// process, until a living owner registers them again. A coordinator that was stopped may also
// attribute them to a member that has left them since.
void PortMembership::TellKnown(const PortState& before, uint64_t now_ms) {
  PortState& state = record_->state;
  bool has_told = false;
  const auto is_known = [&](const StateEntry& there) {
    const peer::Entry& entry = there.entry;
    return entry.member == record_->self.id ||
           before.entries().Find(entry.member, entry.server_id, entry.prefix_id) != nullptr;
  };
  for (const StateEntry& there : before.entries()) {
    const bool is_over = there.is_absent() ? there.absent_until_ms <= now_ms
                                           : there.entry.member == record_->self.id;
    const uint64_t until_ms =
        there.is_absent() ? there.absent_until_ms : now_ms + limits::kOfflineMs;
    if (is_over || state.IsExpected(there.key, until_ms, is_known)) continue;
    peer::Entry entry = there.entry;
    if (there.is_absent()) {
      entry.absent_ms = static_cast<uint32_t>(there.absent_until_ms - now_ms);
    } else {
      entry.flags |= peer::kEntryOffline;
      entry.absent_ms = limits::kOfflineMs;
    }
    if (!state.AddEntry(entry, now_ms)) return;
    effects_->Send(link_, FrameType::kEntry, peer::Encode(entry));
    has_told = true;
  }
  if (has_told) effects_->Send(link_, FrameType::kSync, peer::Encode(peer::Sync{}));
}

bool PortMembership::OnSync(std::string_view payload, uint64_t now_ms) {
  peer::Sync sync;
  if (!peer::Decode(payload, &sync)) return false;
  if (told_ != nullptr) AdoptTold(now_ms);
  record_->Publish(Applied{link_, sync.serial});
  if (is_joined_) return true;
  is_joined_ = true;
  is_stranger_told_ = false;
  join_deadline_ms_ = 0;
  if (record_->has_joined) {
    // The new coordinator may have missed this member's last changes, and may lack its sockets.
    record_->own.ForEach([this](const peer::Register& registered) { SendAgain(registered); });
    effects_->TellSocket(link_, {});
  }
  record_->has_joined = true;
  record_->is_outdated = false;
  record_->cache.serial = 0;
  if (record_->cache.bytes != 0) TellCacheWish();
  AskQueued(now_ms);
  return true;
}

void PortMembership::TellCacheWish() {
  if (!is_joined_ || link_ == 0) return;
  effects_->Send(link_, FrameType::kCacheWish, peer::Encode(record_->cache));
}

void PortMembership::OnApplied(const Applied& applied) {
  if (applied.link != link_ || link_ == 0) return;
  effects_->Send(link_, FrameType::kSynced, peer::Encode(peer::Sync{applied.serial}));
}

// -- Registrations of this engine.

void PortMembership::AskQueued(uint64_t now_ms) {
  for (peer::Register& wanted : std::exchange(record_->queued, {})) {
    ExpectAnswer(now_ms);
    SendRegister(wanted);
    const uint32_t token = wanted.token;
    record_->asked[token] = std::move(wanted);
  }
}

void PortMembership::TellRemoval(uint32_t token, const peer::Unregister& gone, uint64_t now_ms) {
  if (link_ == 0) return;
  effects_->Send(link_, FrameType::kUnregister, peer::Encode(gone));
  if (token != 0) ExpectAnswer(now_ms);
}

void PortMembership::TellAgain(uint32_t server_id) {
  if (!is_joined_) return;
  record_->own.ForEachOf(server_id,
                         [this](const peer::Register& registered) { SendAgain(registered); });
}

void PortMembership::TellSocket(const std::string& address) {
  if (link_ != 0) effects_->TellSocket(link_, address);
}

void PortMembership::SendRegister(const peer::Register& wanted) {
  effects_->Send(link_, FrameType::kRegister, peer::Encode(wanted));
}

// Registers again what an earlier coordinator granted. Token 0: only a refusal matters.
void PortMembership::SendAgain(peer::Register registered) {
  if (registered.again == peer::kFirstTime) registered.again = peer::kAgain;
  registered.token = 0;
  SendRegister(registered);
}

void PortMembership::ExpectAnswer(uint64_t now_ms) {
  if (answer_deadline_ms_ != 0) return;
  answer_deadline_ms_ = now_ms + limits::kCoordinatorMs;
  succession_.Expect(now_ms);
}

bool PortMembership::OnRegistered(std::string_view payload, uint64_t now_ms) {
  peer::Registered answer;
  if (!peer::Decode(payload, &answer) || answer.error > kErrnoMax) return false;
  const bool is_removal = record_->removals.erase(answer.token) != 0;
  if (is_removal) {
    record_->CompleteRemoval(answer.token);
    if (record_->WantsNothing() && record_->removals.empty()) {
      is_over_ = true;
      return true;
    }
  }
  const bool is_asked = record_->asked.contains(answer.token);
  // If both are false, the answer belongs to a registration that was sent again.
  if (is_removal || is_asked) {
    const size_t left = record_->asked.size() + record_->removals.size();
    const bool is_last = left <= (is_removal ? 0U : 1U);
    answer_deadline_ms_ = is_last ? 0 : now_ms + limits::kCoordinatorMs;
  }
  const bool is_lost = answer.token == 0 && answer.error != 0;
  if (is_lost) RemoveRefused();
  if (is_asked || is_lost) OnOwnRegistered(answer);
  return true;
}

// Handles the answer to a registration of this engine, or the refusal of one that was sent again.
void PortMembership::OnOwnRegistered(const peer::Registered& answer) {
  RegistrationResult result;
  const auto found = record_->asked.find(answer.token);
  record_->has_failed = record_->has_failed || answer.error != 0;
  if (found != record_->asked.end()) {
    if (answer.error == 0) {
      record_->AddOwn(found->second);
      // The certificate rules of the registration have changed since it was sent.
      if (changed_terms_.erase(answer.token) != 0) SendAgain(found->second);
    }
    if (answer.reason == static_cast<uint8_t>(ConflictReason::kTerms)) {
      const auto conflict = record_->state.CheckTerms(record_->self.id, found->second);
      if (conflict) result.wanted = conflict->wanted;
    }
    record_->asked.erase(found);
  }
  result.token = answer.token;
  result.error = static_cast<int>(answer.error);
  result.pid = answer.pid;
  result.prefix = answer.prefix;
  result.queue = answer.queue;
  // Ignore reasons of later protocol versions, which are larger.
  if (answer.reason <= static_cast<uint8_t>(kConflictReasonLast)) {
    result.reason = static_cast<ConflictReason>(answer.reason);
  }
  effects_->Complete(std::move(result), true);
}

// Gives up the link to the coordinator, because the coordinator has ended (`is_gone`), or because
// another member is the coordinator now. Returns true if this member was joined.
bool PortMembership::Part(bool is_gone, uint64_t now_ms) {
  link_ = 0;
  const bool was_joined = std::exchange(is_joined_, false);
  succession_.End();
  // A newcomer keeps the incomplete state that it has received: if it becomes the coordinator, it
  // then knows some of the members and prefixes that may come back.
  if (told_ != nullptr && !record_->has_joined) {
    told_->Succeed(record_->state);
    record_->state = std::move(*told_);
    if (is_gone) record_->state.RemoveMember(coordinator_id_, now_ms);
  }
  told_.reset();
  answer_deadline_ms_ = 0;
  for (auto& [token, removal] : record_->removals) removal.is_told = false;
  if (!was_joined) return false;
  for (auto& [token, wanted] : record_->asked) record_->queued.push_back(std::move(wanted));
  record_->asked.clear();
  join_deadline_ms_ = 0;
  return true;
}

// Handles the end of a link. Without a coordinator, routes stay, and members compete for its place.
void PortMembership::OnBroken(LinkId link, uint64_t now_ms) {
  if (link != 0 && link == succession_.ping()) {
    OnFinding(succession_.OnPing(AsMember(), nullptr, now_ms), now_ms);
    return;
  }
  if (link == 0 || link != link_) return;
  if (is_joined_) record_->lost = {coordinator_id_, coordinator_.pid};
  if (!Part(true, now_ms)) {
    retry_at_ms_ = now_ms + kRetryMs;
    return;
  }
  record_->state.RemoveMember(coordinator_id_, now_ms);
  record_->Publish();
  // No member is left to be informed of the removals.
  if (record_->WantsNothing() && record_->state.members().empty()) record_->CompleteRemovals();
  if (record_->WantsNothing() && record_->removals.empty()) {
    is_over_ = true;
    return;
  }
  Seek(now_ms);
}

// Gives up registrations that the coordinator does not answer. If it was stopped, it will read the
// removals that are sent here when it runs again.
void PortMembership::GiveUpAsked(uint64_t now_ms) {
  for (const auto& [token, wanted] : record_->asked) {
    peer::Unregister gone;
    gone.server_id = wanted.server_id;
    for (const peer::PrefixItem& item : wanted.prefixes) gone.prefix_ids.push_back(item.id);
    effects_->Send(link_, FrameType::kUnregister, peer::Encode(gone));
  }
  RegistrationResult why;
  why.error = ETIMEDOUT;
  why.pid = coordinator_.pid;
  record_->FailAll(why);
  // Later removals have their own deadline.
  record_->GiveUpRemovals(now_ms, limits::kCoordinatorMs);
  answer_deadline_ms_ = record_->removals.empty() ? 0 : now_ms + limits::kCoordinatorMs;
  if (record_->WantsNothing() && record_->removals.empty()) is_over_ = true;
}

}  // namespace httpsys::sharing
