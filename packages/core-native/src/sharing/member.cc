// The part of Sharing that the other members of a port play.

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/limits.h"
#include "sharing/listening_socket.h"
#include "sharing/sharing.h"

namespace httpsys::sharing {
namespace {

// A newcomer leaves the place of a dead coordinator to those who know the port, and who is about to
// leave to those who stay; they run at once.
constexpr uint64_t kPatienceMs = 100;
constexpr uint64_t kRetryMs = 5;
// Above every errno; JavaScript looks their names up.
constexpr uint32_t kErrnoMax = 4095;

}  // namespace

using peer::FrameType;

// Finds the coordinator, or becomes it.
void Sharing::Connect(Port* port) {
  if (is_closed_) return;
  const uint64_t now_ms = NowMs();
  if (port->join_deadline_ms == 0) port->join_deadline_ms = now_ms + limits::kCoordinatorMs;
  port->retry_at_ms = now_ms + kRetryMs;
  const int fd = ConnectTo(PortName(port->number));
  if (fd == -ECONNREFUSED || fd == -ENOENT) {
    const uint64_t waited_ms = now_ms + limits::kCoordinatorMs - port->join_deadline_ms;
    const bool is_patient = !port->has_joined || WantsNothing(*port);
    if (is_patient && waited_ms < kPatienceMs) return;
    NamedSocket meeting;
    if (ListenUnder(PortName(port->number), &meeting) != 0) {
      FailByStranger(port, now_ms);
      return;
    }
    const bool is_founder = !port->has_joined && port->sockets.empty();
    BecomeCoordinator(port, meeting);
    if (!is_founder) OpenMeeting(port);
    port->join_deadline_ms = 0;
    if (!port->state.members().empty()) port->reunion_deadline_ms = now_ms + limits::kReunionMs;
    TellRemovalsAgain(port);
    AddOwnAgain(port);
    AskForAll(port);
    SyncAll(port);
    if (IsUnused(*port)) Drop(port);
    return;
  }
  if (fd < 0) {
    FailByStranger(port, now_ms);
    return;
  }
  RegistrationResult why;
  if (!ReadCredentials(fd, &port->coordinator) || port->coordinator.uid != geteuid()) {
    why.error = EACCES;
    why.pid = port->coordinator.pid;
    why.uid = port->coordinator.uid;
  } else {
    why.error = EnsureLinkSocket();
  }
  if (why.error != 0) {
    close(fd);
    OnJoinFailed(port, why);
    return;
  }
  auto* channel = new Channel(&loop_, fd, this);
  if (channel->Start() != 0) {
    channel->Close();
    return;
  }
  channels_[channel] = port->number;
  port->upstream = channel;
  peer::Hello hello;
  hello.id = id_;
  hello.thread = thread_number_;
  hello.program = program_;
  channel->Send(FrameType::kHello, peer::Encode(hello));
}

// Gives up when another user has the name and nobody answers there. False: it may be one of this
// user, or the kernel does not say.
bool Sharing::FailByStranger(Port* port, uint64_t now_ms) {
  if (now_ms < port->stranger_look_at_ms) return false;
  port->stranger_look_at_ms = now_ms + limits::kStrangerLookMs;
  if (!IsStrangers(PortName(port->number), &port->coordinator)) return false;
  RegistrationResult why;
  why.error = EACCES;
  why.pid = port->coordinator.pid;
  why.uid = port->coordinator.uid;
  OnJoinFailed(port, why);
  return true;
}

// A coordinator that died while it told its state has left out what this member has.
void Sharing::AddOwnAgain(Port* port) {
  for (const auto& [server_id, list] : port->own) {
    for (peer::Register again : list) {
      again.is_again = 1;
      again.token = 0;
      RegistrationResult result = Decide(port, id_, again);
      if (result.error != 0) Complete(std::move(result), port);
    }
  }
}

// Nobody may wait for an answer just now, and somebody has to know that the name is lost.
void Sharing::TellStranger(Port* port, RegistrationResult why) {
  for (const auto& [server_id, list] : port->own) {
    if (list.empty()) continue;
    port->is_stranger_told = true;
    why.prefix = list[0].prefixes[0].text;
    Complete(std::move(why), port);
    return;
  }
}

void Sharing::OnJoinFailed(Port* port, const RegistrationResult& why) {
  FailAll(port, why);
  port->told.reset();
  if (port->upstream != nullptr) Forget(std::exchange(port->upstream, nullptr));
  if (port->own.empty()) {
    Drop(port);
    return;
  }
  if (why.error == EACCES && !port->is_stranger_told) TellStranger(port, why);
  // It serves what it has, by the routes that it knows, and goes on trying.
  port->join_deadline_ms = 0;
  port->retry_at_ms = NowMs() + limits::kCoordinatorMs;
}

// False: the coordinator speaks nonsense.
bool Sharing::OnUpstreamFrame(Port* port, const peer::Frame& frame, int* fd) {
  const uint64_t now_ms = NowMs();
  PortState& state = port->told != nullptr ? *port->told : port->state;
  switch (frame.type) {
    case FrameType::kWelcome:
      return OnWelcome(port, frame.payload);
    case FrameType::kRefusal: {
      // Whoever has welcomed this member cannot refuse it.
      if (port->role != Role::kJoining) return false;
      peer::Refusal refusal;
      if (!peer::Decode(frame.payload, &refusal)) return false;
      RegistrationResult why;
      const bool is_full = refusal.reason == static_cast<uint8_t>(peer::RefusalReason::kFull);
      why.error = is_full ? ENOSPC : EPROTO;
      if (is_full) why.reason = ConflictReason::kMembers;
      why.pid = port->coordinator.pid;
      why.peer_oldest = refusal.oldest;
      why.peer_newest = refusal.newest;
      OnJoinFailed(port, why);
      return true;
    }
    case FrameType::kMember: {
      peer::Member member;
      if (!peer::Decode(frame.payload, &member)) return false;
      return member.id == id_ || state.AddMember(member);
    }
    case FrameType::kMemberGone: {
      peer::MemberGone gone;
      if (!peer::Decode(frame.payload, &gone)) return false;
      state.RemoveMember(gone.id, now_ms);
      return true;
    }
    case FrameType::kEntry: {
      peer::Entry entry;
      if (!peer::Decode(frame.payload, &entry)) return false;
      // What we have taken back meanwhile stays away.
      const bool is_stale = port->told == nullptr && entry.member == id_ && entry.absent_ms == 0 &&
                            !port->own.contains(entry.server_id) && port->asked.empty();
      return is_stale || state.AddEntry(entry, now_ms);
    }
    case FrameType::kEntryGone: {
      peer::EntryGone gone;
      if (!peer::Decode(frame.payload, &gone)) return false;
      state.RemoveEntry(gone);
      return true;
    }
    case FrameType::kSocket:
      if (*fd != -1 && IsListeningOn(*fd, port->number) &&
          AddSocket(port, std::exchange(*fd, -1)) == 0) {
        EnsureAccepted(port);
      }
      return true;
    case FrameType::kTicketKeys: {
      peer::TicketKeys keys;
      if (!peer::Decode(frame.payload, &keys)) return false;
      delegate_->LearnTicketKeys(port->number, keys);
      return true;
    }
    case FrameType::kSync:
      return OnSync(port, frame.payload);
    case FrameType::kRegistered:
      return OnRegistered(port, frame.payload);
    case FrameType::kStateQuery:
      // Asks, and does not read the answers.
      if (port->upstream->unsent_bytes() > limits::kPeerUnsentBytesMax) return false;
      port->upstream->Send(FrameType::kState, Describe(*port));
      return true;
    default:
      // Of a later protocol.
      return true;
  }
}

bool Sharing::OnWelcome(Port* port, std::string_view payload) {
  peer::Welcome welcome;
  if (!peer::Decode(payload, &welcome)) return false;
  if (welcome.protocol < peer::kProtocolOldest || welcome.protocol > peer::kProtocol) return false;
  port->coordinator_id = welcome.coordinator;
  port->protocol = welcome.protocol;
  // What follows is the whole state. Requests go by the last one until it is complete.
  port->told = std::make_unique<PortState>(port->number);
  return true;
}

bool Sharing::OnSync(Port* port, std::string_view payload) {
  peer::Sync sync;
  if (!peer::Decode(payload, &sync)) return false;
  const uint16_t number = port->number;
  Channel* const channel = port->upstream;
  if (port->told != nullptr) {
    port->state = std::move(*port->told);
    port->told.reset();
    if (port->has_joined) TellRemovalsAgain(port);
    // A new coordinator may not have heard of all that is ours; it does below.
    for (const auto& [server_id, list] : port->own) {
      for (const peer::Register& registered : list) {
        for (const peer::Entry& entry : port->state.EntriesOf(id_, registered)) {
          port->state.AddEntry(entry, NowMs());
        }
      }
    }
  }
  PublishRoutes(port, [this, number, channel, sync] {
    OnThread(number, [channel, sync](Port* port) {
      if (port->upstream != channel) return;
      channel->Send(FrameType::kSynced, peer::Encode(sync));
    });
  });
  if (port->role == Role::kMember) return true;
  port->role = Role::kMember;
  port->is_stranger_told = false;
  port->join_deadline_ms = 0;
  if (port->has_joined) {
    // The new coordinator may have missed the last change, and has not all sockets.
    for (const auto& [server_id, list] : port->own) {
      for (const peer::Register& registered : list) SendAgain(*port, registered);
    }
    for (const SharedSocket& socket : port->sockets) {
      channel->Send(FrameType::kSocket, peer::Encode(peer::Sync{}), socket.fd);
    }
  }
  port->has_joined = true;
  AskForAll(port);
  return true;
}

// Sends what waited for a coordinator, or decides it.
void Sharing::AskForAll(Port* port) {
  std::vector<peer::Register> queued = std::exchange(port->queued, {});
  for (const peer::Register& wanted : queued) Ask(port, wanted);
}

void Sharing::Ask(Port* port, const peer::Register& wanted) {
  if (port->role == Role::kMember) {
    port->asked[wanted.token] = wanted;
    ExpectAnswer(port);
    SendRegister(*port, wanted);
    return;
  }
  RegistrationResult result = Decide(port, id_, wanted);
  if (result.error == 0) {
    AddOwn(port, wanted);
    Confirm(port, SyncAll(port), nullptr, wanted.token);
  } else {
    Complete(std::move(result), port);
  }
}

// A coordinator of an earlier protocol takes a longer frame for nonsense.
void Sharing::SendRegister(const Port& port, peer::Register wanted) {
  if (port.protocol < peer::kProtocolTerms) {
    for (peer::PrefixItem& item : wanted.prefixes) item.terms.clear();
  }
  port.upstream->Send(FrameType::kRegister, peer::Encode(wanted));
}

// What is registered already; the answer tells nothing when it is granted.
void Sharing::SendAgain(const Port& port, peer::Register registered) {
  registered.is_again = 1;
  registered.token = 0;
  SendRegister(port, std::move(registered));
}

void Sharing::ExpectAnswer(Port* port) {
  if (port->answer_deadline_ms == 0) port->answer_deadline_ms = NowMs() + limits::kCoordinatorMs;
  ArmTimer();
}

bool Sharing::OnRegistered(Port* port, std::string_view payload) {
  peer::Registered answer;
  if (!peer::Decode(payload, &answer) || answer.error > kErrnoMax) return false;
  const bool is_removal = port->removals.erase(answer.token) != 0;
  if (is_removal) {
    CompleteRemoval(answer.token);
    if (IsUnused(*port)) {
      Drop(port);
      return true;
    }
  }
  const auto found = port->asked.find(answer.token);
  // Otherwise registered again.
  if (is_removal || found != port->asked.end()) {
    const bool is_last = port->asked.size() + port->removals.size() <= (is_removal ? 0U : 1U);
    port->answer_deadline_ms = is_last ? 0 : NowMs() + limits::kCoordinatorMs;
  }
  const bool is_lost = answer.token == 0 && answer.error != 0;
  if (found == port->asked.end() && !is_lost) return true;
  if (answer.error == 0) {
    AddOwn(port, found->second);
    // They have changed since it was asked for.
    if (port->changed_terms.erase(answer.token) != 0) SendAgain(*port, found->second);
  }
  RegistrationResult result;
  if (!is_lost && answer.reason == static_cast<uint8_t>(ConflictReason::kTerms)) {
    const auto conflict = port->state.CheckTerms(id_, found->second);
    if (conflict) result.wanted = conflict->wanted;
  }
  if (!is_lost) port->asked.erase(found);
  result.token = answer.token;
  result.error = static_cast<int>(answer.error);
  result.pid = answer.pid;
  result.prefix = answer.prefix;
  result.queue = answer.queue;
  // Others are of a later protocol.
  if (answer.reason <= static_cast<uint8_t>(kConflictReasonLast)) {
    result.reason = static_cast<ConflictReason>(answer.reason);
  }
  Complete(std::move(result), port);
  return true;
}

// The coordinator has gone: routes stay, and everybody runs for its place.
void Sharing::OnUpstreamBroken(Port* port) {
  if (port->upstream != nullptr) Forget(std::exchange(port->upstream, nullptr));
  const bool was_member = port->role == Role::kMember;
  port->role = Role::kJoining;
  port->told.reset();
  port->answer_deadline_ms = 0;
  for (auto& [token, removal] : port->removals) removal.is_told = false;
  if (was_member) {
    for (auto& [token, wanted] : port->asked) port->queued.push_back(std::move(wanted));
    port->asked.clear();
    port->join_deadline_ms = 0;
    port->state.RemoveMember(port->coordinator_id, NowMs());
    PublishRoutes(port);
    // Nobody is left who could hear of them.
    if (WantsNothing(*port) && port->state.members().empty()) CompleteRemovals(port);
    if (IsUnused(*port)) {
      Drop(port);
      return;
    }
    Connect(port);
    return;
  }
  port->retry_at_ms = NowMs() + kRetryMs;
}

// The coordinator does not answer. When it goes on it hears that this is not wanted any more.
void Sharing::GiveUpAsked(Port* port) {
  for (const auto& [token, wanted] : port->asked) {
    peer::Unregister gone;
    gone.server_id = wanted.server_id;
    for (const peer::PrefixItem& item : wanted.prefixes) gone.prefix_ids.push_back(item.id);
    port->upstream->Send(FrameType::kUnregister, peer::Encode(gone));
  }
  RegistrationResult why;
  why.error = ETIMEDOUT;
  why.pid = port->coordinator.pid;
  FailAll(port, why);
  CompleteRemovals(port);
  port->answer_deadline_ms = 0;
  if (IsUnused(*port)) Drop(port);
}

void Sharing::TickMember(Port* port, uint64_t now_ms) {
  if (port->has_joined && !port->removals.empty()) {
    GiveUpRemovals(port, now_ms);
    if (IsUnused(*port)) {
      Drop(port);
      return;
    }
  }
  if (port->role == Role::kMember) {
    const bool is_late = port->answer_deadline_ms != 0 && now_ms >= port->answer_deadline_ms;
    if (is_late) GiveUpAsked(port);
    return;
  }
  if (port->join_deadline_ms != 0 && now_ms >= port->join_deadline_ms) {
    RegistrationResult why;
    why.error = ETIMEDOUT;
    why.pid = port->coordinator.pid;
    OnJoinFailed(port, why);
    return;
  }
  if (port->upstream == nullptr && now_ms >= port->retry_at_ms) Connect(port);
}

}  // namespace httpsys::sharing
