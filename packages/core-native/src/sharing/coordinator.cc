// The part of Sharing that a port's coordinator plays.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/limits.h"
#include "sharing/listening_socket.h"
#include "sharing/sharing.h"

namespace httpsys::sharing {
namespace {

// Members in the answer to a query, in bytes: it is one frame, and has up to kSharedSocketsMax
// addresses besides.
constexpr size_t kMembersBytesMax = peer::kFrameBytesMax - 16 * 1024;
// One member of them; the registrations of one that has more are told in part.
constexpr size_t kMemberBytesMax = kMembersBytesMax / 2;

// As a JSON string. What is not ASCII is UTF-8 already.
std::string Quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) result.push_back(c);
  }
  return result.append("\"");
}

std::string IdText(uint64_t id) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

bool IsSecure(const PortState& state) {
  return std::any_of(state.entries().begin(), state.entries().end(),
                     [](const StateEntry& there) { return there.parsed.is_https; });
}

}  // namespace

using peer::FrameType;

void Sharing::BecomeCoordinator(Port* port, NamedSocket meeting) {
  port->role = Role::kCoordinator;
  port->has_joined = true;
  port->meeting = std::move(meeting);
}

// Until the founder of a port has its socket, others wait at the door: they would open one of their
// own, and one of the two would be in the other's way.
void Sharing::OpenMeeting(Port* port) {
  if (port->role != Role::kCoordinator || port->meeting.fd == -1) return;
  const uint16_t number = port->number;
  // Takes the descriptor over.
  port->meeting_key = delegate_->Watch(std::exchange(port->meeting.fd, -1),
                                       [this, number](int fd) { OnVisitor(number, fd); });
}

// On the acceptor's thread.
void Sharing::OnVisitor(uint16_t number, int fd) {
  const bool is_posted = Post([this, number, fd] {
    const std::lock_guard lock(mutex_);
    Port* port = Find(number);
    Session session;
    session.since_ms = NowMs();
    const bool is_welcome = !is_closed_ && port != nullptr && port->role == Role::kCoordinator &&
                            ReadCredentials(fd, &session.credentials) &&
                            session.credentials.uid == geteuid() &&
                            port->sessions.size() < limits::kMembersMax + limits::kVisitorsMax &&
                            EnsureLinkSocket() == 0;
    if (!is_welcome) {
      close(fd);
      return;
    }
    auto* channel = new Channel(&loop_, fd, this);
    if (channel->Start() != 0) {
      channel->Close();
      return;
    }
    channels_[channel] = number;
    port->sessions[channel] = session;
    ArmTimer();
  });
  if (!is_posted) close(fd);
}

// False: the peer speaks nonsense.
bool Sharing::OnSessionFrame(Port* port, Channel* channel, const peer::Frame& frame, int* fd) {
  Session& session = port->sessions[channel];
  // Asks, and does not read the answers.
  if (channel->unsent_bytes() > limits::kPeerUnsentBytesMax) return false;
  if (frame.type == FrameType::kHello) return OnHello(port, channel, frame.payload);
  if (frame.type == FrameType::kStateQuery) {
    BeginQuery(port, channel);
    return true;
  }
  if (session.id == 0) return false;
  switch (frame.type) {
    case FrameType::kRegister:
      return OnRegister(port, channel, frame.payload);
    case FrameType::kUnregister:
      return OnUnregister(port, channel, frame.payload);
    case FrameType::kSocket:
      // Known ones are not told again: each costs a descriptor for whoever does not read.
      if (*fd != -1 && IsListeningOn(*fd, port->number) &&
          AddSocket(port, std::exchange(*fd, -1)) == 0) {
        Broadcast(port, FrameType::kSocket, peer::Encode(peer::Sync{}), port->sockets.back().fd,
                  channel);
        EnsureAccepted(port);
      }
      return true;
    case FrameType::kSynced: {
      peer::Sync sync;
      if (!peer::Decode(frame.payload, &sync)) return false;
      session.synced = sync.serial;
      CheckConfirmations(port);
      return true;
    }
    case FrameType::kState:
      for (Query& query : port->queries) {
        if (query.waiting.erase(channel) == 0) continue;
        // What does not fit into the answer is left out.
        if (query.members.size() + frame.payload.size() > kMembersBytesMax) continue;
        if (!query.members.empty()) query.members.push_back(',');
        query.members.append(frame.payload);
      }
      FinishQueries(port);
      return true;
    default:
      // Of a later protocol.
      return true;
  }
}

peer::Member Sharing::Self() const {
  return {id_, static_cast<uint32_t>(getpid()), thread_number_, peer::kProtocol, program_};
}

bool Sharing::OnHello(Port* port, Channel* channel, std::string_view payload) {
  peer::Hello hello;
  Session& session = port->sessions[channel];
  if (session.id != 0 || !peer::Decode(payload, &hello) || hello.id == 0 || hello.id == id_) {
    return false;
  }
  if (hello.newest < peer::kProtocolOldest || hello.oldest > peer::kProtocol) {
    peer::Refusal refusal;
    refusal.reason = static_cast<uint8_t>(peer::RefusalReason::kVersion);
    channel->Send(FrameType::kRefusal, peer::Encode(refusal));
    return true;
  }
  for (const auto& [other, known] : port->sessions) {
    if (known.id == hello.id) return false;
  }
  // With this one itself. Those that the last coordinator had come back.
  const auto& members = port->state.members();
  if (!members.contains(hello.id) && members.size() + 1 >= limits::kMembersMax) {
    peer::Refusal refusal;
    refusal.reason = static_cast<uint8_t>(peer::RefusalReason::kFull);
    channel->Send(FrameType::kRefusal, peer::Encode(refusal));
    return true;
  }
  const peer::Member member{hello.id, session.credentials.pid, hello.thread,
                            std::min(hello.newest, peer::kProtocol), hello.program};
  if (!port->state.AddMember(member)) return false;
  Broadcast(port, FrameType::kMember, peer::Encode(member), -1, channel);
  session.id = hello.id;
  session.protocol = member.protocol;
  peer::Welcome welcome;
  welcome.protocol = member.protocol;
  welcome.coordinator = id_;
  channel->Send(FrameType::kWelcome, peer::Encode(welcome));
  SendSnapshot(port, channel);
  return true;
}

void Sharing::SendSnapshot(Port* port, Channel* channel) {
  channel->Send(FrameType::kMember, peer::Encode(Self()));
  for (const auto& [id, member] : port->state.members()) {
    channel->Send(FrameType::kMember, peer::Encode(member));
  }
  const uint64_t now_ms = NowMs();
  for (const StateEntry& there : port->state.entries()) {
    peer::Entry entry = there.entry;
    if (there.is_absent()) {
      entry.absent_ms = static_cast<uint32_t>(
          there.absent_until_ms > now_ms ? there.absent_until_ms - now_ms : 1);
    }
    if (port->sessions[channel].protocol < peer::kProtocolTerms) entry.terms.clear();
    channel->Send(FrameType::kEntry, peer::Encode(entry));
  }
  for (const SharedSocket& socket : port->sockets) {
    channel->Send(FrameType::kSocket, peer::Encode(peer::Sync{}), socket.fd);
  }
  if (IsSecure(port->state)) {
    const peer::TicketKeys keys = delegate_->TellTicketKeys(port->number);
    channel->Send(FrameType::kTicketKeys, peer::Encode(keys));
    // TellTicketKeys() tells the others when it is another one than they know.
    if (port->sessions.size() == 1 && !keys.keys.empty()) port->told_key = keys.keys[0].bytes;
    if (uv_is_active(reinterpret_cast<uv_handle_t*>(&keys_timer_)) == 0) {
      uv_timer_start(
          &keys_timer_,
          [](uv_timer_t* timer) { static_cast<Sharing*>(timer->data)->TellTicketKeys(); },
          limits::kTicketTellMs, limits::kTicketTellMs);
    }
  }
  channel->Send(FrameType::kSync, peer::Encode(peer::Sync{port->serial}));
}

// They are replaced by themselves, as time goes by.
void Sharing::TellTicketKeys() {
  const std::lock_guard lock(mutex_);
  bool is_any = false;
  for (const auto& [number, port] : ports_) {
    if (port->role != Role::kCoordinator || port->sessions.empty() || !IsSecure(port->state))
      continue;
    is_any = true;
    const peer::TicketKeys keys = delegate_->TellTicketKeys(number);
    if (keys.keys.empty() || keys.keys[0].bytes == port->told_key) continue;
    port->told_key = keys.keys[0].bytes;
    Broadcast(port.get(), FrameType::kTicketKeys, peer::Encode(keys));
  }
  if (!is_any) uv_timer_stop(&keys_timer_);
}

void Sharing::Broadcast(Port* port, FrameType type, std::string_view payload, int fd,
                        const Channel* except) {
  for (const auto& [channel, session] : port->sessions) {
    if (session.id == 0 || channel == except) continue;
    SendTo(channel, type, payload, fd);
  }
}

// Who does not read is met again when the connection breaks.
void Sharing::SendTo(Channel* channel, FrameType type, std::string_view payload, int fd) {
  if (channel->unsent_bytes() > limits::kPeerUnsentBytesMax) {
    channel->ShutDown();
  } else {
    channel->Send(type, payload, fd);
  }
}

// Members of an earlier protocol take a longer frame for nonsense.
void Sharing::TellEntry(Port* port, const peer::Entry& entry) {
  peer::Entry bare = entry;
  bare.terms.clear();
  const std::string payloads[] = {peer::Encode(bare), peer::Encode(entry)};
  for (const auto& [channel, session] : port->sessions) {
    if (session.id == 0) continue;
    SendTo(channel, FrameType::kEntry, payloads[session.protocol >= peer::kProtocolTerms]);
  }
}

// -- Registrations.

uint32_t Sharing::PidOf(const Port& port, uint64_t member) const {
  if (member == id_) return static_cast<uint32_t>(getpid());
  const auto found = port.state.members().find(member);
  return found == port.state.members().end() ? 0 : found->second.pid;
}

// One that the last coordinator knew and that has not come back: its name vanished with its
// process.
bool Sharing::HasDied(const Port& port, uint64_t member) const {
  if (member == id_ || member == 0) return false;
  return !IsHere(port, member) && IsGone(member);
}

bool Sharing::IsHere(const Port& port, uint64_t member) {
  return std::any_of(port.sessions.begin(), port.sessions.end(),
                     [=](const auto& item) { return item.second.id == member; });
}

// Of a new coordinator: some of those that it knows of have not come back, and hear of no change.
bool Sharing::IsAwaiting(const Port& port) {
  const auto& members = port.state.members();
  return port.reunion_deadline_ms != 0 &&
         std::any_of(members.begin(), members.end(),
                     [&](const auto& item) { return !IsHere(port, item.first); });
}

// Adds what may be added. The members are told with the next SyncAll().
RegistrationResult Sharing::Decide(Port* port, uint64_t member, const peer::Register& wanted) {
  RegistrationResult result;
  result.token = wanted.token;
  auto conflict = port->state.Check(member, wanted);
  while (conflict && HasDied(*port, conflict->member)) {
    const peer::MemberGone gone{conflict->member};
    port->state.RemoveMember(gone.id, NowMs());
    OnThread(port->number, [this, gone](Port* port) {
      Broadcast(port, FrameType::kMemberGone, peer::Encode(gone));
    });
    conflict = port->state.Check(member, wanted);
  }
  if (conflict) {
    result.error = conflict->error;
    result.pid = PidOf(*port, conflict->member);
    result.prefix = conflict->prefix;
    result.queue = conflict->queue;
    result.reason = conflict->reason;
    result.wanted = conflict->wanted;
    return result;
  }
  const uint64_t now_ms = NowMs();
  for (const peer::Entry& entry : port->state.EntriesOf(member, wanted)) {
    if (!port->state.AddEntry(entry, now_ms)) result.error = EINVAL;
    if (port->sessions.empty()) continue;
    OnThread(port->number, [this, entry](Port* port) { TellEntry(port, entry); });
  }
  return result;
}

bool Sharing::OnRegister(Port* port, Channel* channel, std::string_view payload) {
  peer::Register wanted;
  if (!peer::Decode(payload, &wanted)) return false;
  const RegistrationResult result = Decide(port, port->sessions[channel].id, wanted);
  if (result.error != 0) {
    const peer::Registered answer{wanted.token,  static_cast<uint32_t>(result.error), result.pid,
                                  result.prefix, static_cast<uint8_t>(result.reason), result.queue};
    channel->Send(FrameType::kRegistered, peer::Encode(answer));
    return true;
  }
  Confirm(port, SyncAll(port), channel, wanted.token);
  return true;
}

bool Sharing::OnUnregister(Port* port, Channel* channel, std::string_view payload) {
  peer::Unregister gone;
  if (!peer::Decode(payload, &gone)) return false;
  RemoveEntries(port, port->sessions[channel].id, gone);
  const uint32_t serial = SyncAll(port);
  if (gone.token != 0) Confirm(port, serial, channel, gone.token);
  return true;
}

// Entries of a server that goes: away, or absent until its successor comes.
void Sharing::RemoveEntries(Port* port, uint64_t member, const peer::Unregister& gone) {
  const uint64_t now_ms = NowMs();
  for (const StateEntry& there : port->state.EntriesOfServer(member, gone.server_id)) {
    peer::Entry entry = there.entry;
    const bool is_meant =
        gone.is_all != 0 || std::find(gone.prefix_ids.begin(), gone.prefix_ids.end(),
                                      entry.prefix_id) != gone.prefix_ids.end();
    if (!is_meant || there.is_absent()) continue;
    const peer::EntryGone left{member, gone.server_id, entry.prefix_id};
    port->state.RemoveEntry(left);
    const bool has_other =
        std::any_of(port->state.entries().begin(), port->state.entries().end(),
                    [&](const StateEntry& other) { return other.key == there.key; });
    if (gone.wait_ms != 0 && !has_other) {
      entry.absent_ms = gone.wait_ms;
      port->state.AddEntry(entry, now_ms);
    }
    if (port->role != Role::kCoordinator || port->sessions.empty()) continue;
    OnThread(port->number, [this, entry, left](Port* port) {
      if (entry.absent_ms != 0) {
        TellEntry(port, entry);
      } else {
        Broadcast(port, FrameType::kEntryGone, peer::Encode(left));
      }
    });
  }
}

// Everything told so far is to be in force. The serial by which that is confirmed.
uint32_t Sharing::SyncAll(Port* port) {
  const uint32_t serial = ++port->serial;
  const uint16_t number = port->number;
  Broadcast(port, FrameType::kSync, peer::Encode(peer::Sync{serial}));
  PublishRoutes(port, [this, number, serial] {
    OnThread(number, [this, serial](Port* port) {
      for (Confirmation& confirmation : port->confirmations) {
        if (confirmation.serial <= serial) confirmation.is_applied = true;
      }
      CheckConfirmations(port);
    });
  });
  return serial;
}

void Sharing::Confirm(Port* port, uint32_t serial, Channel* channel, uint32_t token) {
  port->confirmations.push_back({serial, NowMs() + limits::kConfirmMs, channel, token, false});
  ArmTimer();
}

void Sharing::CheckConfirmations(Port* port) {
  const uint64_t now_ms = NowMs();
  std::erase_if(port->confirmations, [&](const Confirmation& confirmation) {
    const bool is_confirmed =
        confirmation.is_applied &&
        std::all_of(port->sessions.begin(), port->sessions.end(), [&](const auto& item) {
          return item.second.id == 0 || item.second.synced >= confirmation.serial;
        });
    const bool is_removal =
        confirmation.channel == nullptr && port->removals.contains(confirmation.token);
    const bool is_over = is_confirmed && !(is_removal && IsAwaiting(*port));
    if (!is_over && now_ms < confirmation.deadline_ms) return false;
    if (is_removal) {
      FinishRemoval(port->number, confirmation.token);
    } else if (confirmation.channel == nullptr) {
      RegistrationResult result;
      result.token = confirmation.token;
      Complete(std::move(result), port);
    } else if (port->sessions.contains(confirmation.channel)) {
      confirmation.channel->Send(FrameType::kRegistered, peer::Encode(peer::Registered{
                                                             confirmation.token, 0, 0, {}, 0, {}}));
    }
    return true;
  });
}

// -- Ends.

void Sharing::OnSessionBroken(Port* port, Channel* channel) {
  const uint64_t id = port->sessions[channel].id;
  port->sessions.erase(channel);
  for (Query& query : port->queries) query.waiting.erase(channel);
  std::erase_if(port->queries, [=](const Query& query) { return query.channel == channel; });
  std::erase_if(port->confirmations,
                [=](const Confirmation& confirmation) { return confirmation.channel == channel; });
  if (id != 0) RemoveMember(port, id);
  CheckConfirmations(port);
  FinishQueries(port);
}

void Sharing::RemoveMember(Port* port, uint64_t id) {
  port->state.RemoveMember(id, NowMs());
  Broadcast(port, FrameType::kMemberGone, peer::Encode(peer::MemberGone{id}));
  SyncAll(port);
}

void Sharing::TickCoordinator(Port* port, uint64_t now_ms) {
  CheckConfirmations(port);
  FinishQueries(port);
  if (port->reunion_deadline_ms != 0 && now_ms >= port->reunion_deadline_ms) {
    port->reunion_deadline_ms = 0;
    // Who has not come back has died with the last coordinator.
    std::vector<uint64_t> lost;
    for (const auto& [id, member] : port->state.members()) {
      if (!IsHere(*port, id)) lost.push_back(id);
    }
    for (const uint64_t id : lost) RemoveMember(port, id);
  }
  DropSilent(port, now_ms);
  const PortState::Expired expired = port->state.Expire(now_ms);
  for (const peer::Entry& entry : expired.offline) {
    TellEntry(port, entry);
  }
  for (const peer::EntryGone& gone : expired.gone) {
    Broadcast(port, FrameType::kEntryGone, peer::Encode(gone));
  }
  if (!expired.empty()) SyncAll(port);
}

// Who came and did not say why takes a member's place.
void Sharing::DropSilent(Port* port, uint64_t now_ms) {
  std::vector<Channel*> silent;
  for (const auto& [channel, session] : port->sessions) {
    if (session.id == 0 && now_ms - session.since_ms >= limits::kStateMs) silent.push_back(channel);
  }
  for (Channel* channel : silent) {
    OnSessionBroken(port, channel);
    Forget(channel);
  }
}

// -- The state of the port, for people.

std::string Sharing::Describe(const Port& port) {
  const PortCounters counters = delegate_->Count(port.number);
  std::string text = "{\"pid\":" + std::to_string(getpid()) + ",\"id\":\"" + IdText(id_) +
                     "\",\"thread\":" + std::to_string(thread_number_) +
                     ",\"protocol\":" + std::to_string(peer::kProtocol) +
                     ",\"program\":" + Quoted(program_) +
                     ",\"connections\":" + std::to_string(counters.connections) +
                     ",\"handedOver\":" + std::to_string(counters.handed_over) +
                     ",\"received\":" + std::to_string(counters.received) + ",\"registrations\":[";
  bool is_first = true;
  for (const auto& [server_id, list] : port.own) {
    for (const peer::Register& registered : list) {
      for (const peer::PrefixItem& item : registered.prefixes) {
        if (text.size() + item.text.size() > kMemberBytesMax) break;
        const auto requests = counters.requests.find({server_id, item.id});
        text.append(is_first ? "" : ",").append("{\"prefix\":").append(Quoted(item.text));
        text.append(",\"queue\":").append(Quoted(registered.queue));
        text.append(",\"requests\":");
        text.append(std::to_string(requests == counters.requests.end() ? 0 : requests->second));
        const auto server = counters.servers.find(server_id);
        const PortCounters::Server queue =
            server == counters.servers.end() ? PortCounters::Server() : server->second;
        text.append(",\"queued\":").append(std::to_string(queue.queued));
        text.append(",\"queueLimit\":").append(std::to_string(queue.queue_limit));
        text.append(",\"refused\":").append(std::to_string(queue.refused)).append("}");
        is_first = false;
      }
    }
  }
  return text.append("]}");
}

void Sharing::BeginQuery(Port* port, Channel* channel) {
  const bool is_asking = std::any_of(port->queries.begin(), port->queries.end(),
                                     [=](const Query& other) { return other.channel == channel; });
  if (is_asking) return;
  Query query;
  query.channel = channel;
  query.deadline_ms = NowMs() + limits::kConfirmMs;
  query.members = Describe(*port);
  for (const auto& [other, session] : port->sessions) {
    if (session.id == 0 || other->unsent_bytes() > limits::kPeerUnsentBytesMax) continue;
    query.waiting.insert(other);
    other->Send(FrameType::kStateQuery, {});
  }
  port->queries.push_back(std::move(query));
  FinishQueries(port);
}

void Sharing::FinishQueries(Port* port) {
  const uint64_t now_ms = NowMs();
  std::erase_if(port->queries, [&](const Query& query) {
    if (!query.waiting.empty() && now_ms < query.deadline_ms) return false;
    std::string text = "{\"port\":" + std::to_string(port->number) +
                       ",\"protocol\":" + std::to_string(peer::kProtocol) +
                       ",\"coordinator\":" + std::to_string(getpid()) + ",\"members\":[" +
                       query.members + "],\"sockets\":[";
    for (size_t i = 0; i < port->sockets.size(); ++i) {
      text.append(i == 0 ? "\"" : ",\"").append(port->sockets[i].address);
      text.append(":").append(std::to_string(port->number)).append("\"");
    }
    query.channel->Send(FrameType::kState, text.append("]}"));
    return true;
  });
}

}  // namespace httpsys::sharing
