#include "engine/peers/peer_links.h"

#include <unistd.h>

#include <utility>

#include "base/limits.h"
#include "engine/connection/connected_socket.h"
#include "records/record_writer.h"
#include "sharing/meeting_place.h"

namespace httpsys::engine {

using peer::FrameType;
using sharing::Channel;

namespace {

void CloseAll(std::span<const int> fds) {
  for (const int fd : fds) close(fd);
}

// The number of a hand-over for the mark on its connection. Members have random ids, so the numbers
// of different senders differ, too.
uint64_t HandOverNumber(uint64_t sender, uint32_t sequence) { return sender + sequence; }

bool SpeaksOurProtocol(const peer::Link& link) {
  return link.newest >= peer::kProtocolOldest && link.oldest <= peer::kProtocol;
}

}  // namespace

static_assert(limits::kPeerSilentMs < limits::kPeerAckMs);

PeerLinks::PeerLinks(uv_loop_t* loop, uint64_t self, LanePatience* patience, Owner* owner,
                     RelayOwner* relays)
    : loop_(loop), self_(self), patience_(patience), owner_(owner), relays_(relays) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

// -- To peers.

PeerLinks::State PeerLinks::Prepare(uint64_t member) {
  const auto found = links_.find(member);
  if (found != links_.end()) {
    Link& link = found->second;
    if (link.is_silent) return State::kGone;
    return IsFull(&link) ? State::kFull : State::kReady;
  }
  return Connect(member);
}

bool PeerLinks::IsFull(Link* link) {
  const bool is_full = link->sent.size() >= limits::kPeerUnackedMax ||
                       link->channel->unsent_bytes() > limits::kPeerUnsentBytesMax;
  // Read the channel, so that the lane notices the answer that makes room.
  if (is_full) link->channel->set_is_reading(true);
  return is_full;
}

// Makes a link to a member. A member that was silent is asked a question first, and gets nothing
// before it has answered.
PeerLinks::State PeerLinks::Connect(uint64_t member) {
  const int fd = sharing::ConnectTo(sharing::MemberName(member));
  if (fd == -EAGAIN) return Stalled(member);
  stalled_since_ms_.erase(member);
  if (fd < 0) {
    silent_until_ms_.erase(member);
    return State::kGone;
  }
  if (!sharing::IsOwnUser(fd)) {
    close(fd);
    return State::kGone;
  }
  auto* channel = new Channel(loop_, fd, this);
  peer::Link hello;
  hello.id = self_;
  if (channel->Start() != 0 || !channel->Send(FrameType::kLink, peer::Encode(hello))) {
    channel->Close();
    return State::kGone;
  }
  Link& link = links_[member];
  link.channel = channel;
  members_[channel] = member;
  if (!silent_until_ms_.contains(member)) return State::kReady;
  // Ask by a hand-over without a descriptor: a member that works declines it.
  link.is_silent = true;
  channel->Send(FrameType::kHandOver, peer::Encode(peer::HandOver{}));
  return State::kGone;
}

// Handles a member whose backlog of links is full (EAGAIN).
PeerLinks::State PeerLinks::Stalled(uint64_t member) {
  const uint64_t now_ms = uv_now(loop_);
  const auto silent = silent_until_ms_.find(member);
  if (silent != silent_until_ms_.end()) {
    if (now_ms < silent->second) return State::kGone;
    silent_until_ms_.erase(silent);
  }
  const uint64_t since_ms = stalled_since_ms_.try_emplace(member, now_ms).first->second;
  if (now_ms - since_ms < limits::kPeerSilentMs) return State::kFull;
  stalled_since_ms_.erase(member);
  silent_until_ms_[member] = now_ms + limits::kPeerSilentMs;
  return State::kGone;
}

void PeerLinks::HandOver(uint64_t member, HandedConnection connection) {
  Link& link = links_[member];
  connection.sequence = next_sequence_++;
  if (connection.origin != nullptr) {
    link.is_prompt = true;
  } else {
    MarkHandedOver(connection.fd, HandOverNumber(self_, connection.sequence));
  }
  link.channel->set_is_reading(link.is_prompt);
  link.sent.push_back({uv_now(loop_), std::move(connection)});
  if (link.unsent++ == 0) unflushed_.push_back(member);
  ArmTimer();
}

void PeerLinks::Flush() {
  for (const uint64_t member : std::exchange(unflushed_, {})) {
    const auto found = links_.find(member);
    if (found == links_.end()) continue;
    Link& link = found->second;
    TellHaste(&link);
    blocked_.Tell(link.channel);
    size_t first = link.sent.size() - std::exchange(link.unsent, 0);
    while (first < link.sent.size()) first += SendSome(&link, first);
  }
}

void PeerLinks::TellBlocked(uint64_t member) {
  const auto found = links_.find(member);
  if (found != links_.end()) blocked_.Tell(found->second.channel);
}

void PeerLinks::TellHaste(Link* link) {
  const uint64_t now_ms = uv_now(loop_);
  const bool is_told =
      link->told_haste_ms != 0 && now_ms - link->told_haste_ms < limits::kHasteMs / 2;
  if (is_told || !patience_->TellsHaste(now_ms)) return;
  link->told_haste_ms = now_ms;
  link->channel->Send(FrameType::kHaste, {});
}

// If sending fails, the link must be shut down, because the next acknowledgement would cover the
// unsent entries. They are taken back when the link breaks.
size_t PeerLinks::SendSome(Link* link, size_t first) {
  std::string payload;
  std::vector<int> fds;
  size_t at = first;
  for (; at < link->sent.size() && fds.size() < peer::kFrameFdsMax; ++at) {
    const HandedConnection& connection = link->sent[at].connection;
    const size_t bytes = peer::kHandOverBytes + connection.bytes.size();
    if (connection.origin != nullptr ||
        (!fds.empty() && payload.size() + bytes > limits::kHandOverBytesMax)) {
      break;
    }
    payload.append(peer::Encode(
        peer::HandOver{connection.sequence, connection.port, connection.hops, connection.idle_ms,
                       static_cast<uint32_t>(connection.bytes.size()), connection.home}));
    payload.append(connection.bytes);
    fds.push_back(connection.fd);
  }
  const bool is_relay = fds.empty();
  const bool is_sent = is_relay ? SendRelay(link, link->sent[at])
                                : link->channel->Send(FrameType::kHandOver, payload, fds);
  if (!is_sent) link->channel->ShutDown();
  return is_relay ? 1 : fds.size();
}

bool PeerLinks::SendRelay(Link* link, const Sent& sent) {
  const HandedConnection& connection = sent.connection;
  const Addresses& addresses = connection.origin->addresses;
  peer::Relay message{connection.sequence,
                      connection.port,
                      connection.hops,
                      connection.origin->id,
                      addresses.family,
                      addresses.remote_port,
                      addresses.local_port,
                      addresses.remote,
                      addresses.local,
                      {},
                      connection.origin->facts,
                      connection.origin->trust,
                      connection.origin->is_stream};
  const auto& ip = addresses.local_ip;
  if (ip.is_ip) message.local_ip.assign(ip.ip.begin(), ip.ip.end());
  return link->channel->Send(FrameType::kRelay, peer::Encode(message), connection.fd);
}

void PeerLinks::ReadNow(uint64_t member) {
  const auto found = links_.find(member);
  if (found != links_.end()) found->second.channel->ReadNow();
}

void PeerLinks::TellFree() {
  for (const auto& [member, link] : links_) {
    if (link.channel->unsent_bytes() > limits::kPeerUnsentBytesMax) continue;
    link.channel->Send(FrameType::kFree, {});
  }
}

void PeerLinks::SendAnswered(const RelayOrigin& origin) {
  const peer::Answered answer{origin.id, origin.sent_bytes, origin.closes};
  SendBack(origin, FrameType::kAnswered, peer::Encode(answer));
}

void PeerLinks::SendDecided(const RelayOrigin& origin, bool is_upgraded) {
  SendBack(origin, FrameType::kDecided, peer::Encode(peer::Decided{origin.id, is_upgraded}));
}

void PeerLinks::SendReturned(const RelayOrigin& origin) {
  SendBack(origin, FrameType::kReturned, peer::Encode(peer::Returned{origin.id}));
}

void PeerLinks::SendUnbegun(const RelayOrigin& origin) {
  const auto channel = channels_.find(origin.link);
  if (channel == channels_.end()) return;
  blocked_.Tell(channel->second);
  SendBack(origin, FrameType::kUnbegun, peer::Encode(peer::Returned{origin.id}));
}

void PeerLinks::SendEnded(const RelayOrigin& origin, bool is_whole) {
  SendBack(origin, FrameType::kEnded, peer::Encode(peer::Ended{origin.id, is_whole}));
}

void PeerLinks::SendBack(const RelayOrigin& origin, FrameType type, const std::string& payload) {
  const auto found = channels_.find(origin.link);
  if (found != channels_.end()) found->second->Send(type, payload);
}

bool PeerLinks::SendToReader(uint64_t link, FrameType type, const std::string& payload, int fd) {
  const auto found = channels_.find(link);
  return found != channels_.end() && found->second->unsent_bytes() == 0 &&
         found->second->Send(type, payload, fd);
}

PeerLinks::Link* PeerLinks::FindLink(Channel* channel, uint64_t* member) {
  const auto found = members_.find(channel);
  if (found == members_.end()) return nullptr;
  *member = found->second;
  return &links_.find(*member)->second;
}

bool PeerLinks::OnBlockedFrame(Channel* channel, uint64_t member, FrameType type) {
  if (type == FrameType::kBlocked) blocked_.OnBlocked(channel, member);
  if (type == FrameType::kBegun && blocked_.OnBegun(channel)) owner_->OnFree(member, false);
  return type == FrameType::kBlocked || type == FrameType::kBegun;
}

void PeerLinks::OnAnswer(Link* link, uint64_t member, const peer::Frame& frame) {
  if (link->is_silent) {
    link->is_silent = false;
    silent_until_ms_.erase(member);
    return owner_->OnLinkFree();
  }
  if (OnBlockedFrame(link->channel, member, frame.type)) return;
  if (frame.type == FrameType::kAnswered) {
    peer::Answered answered;
    if (peer::Decode(frame.payload, &answered)) relays_->OnAnswered(answered);
    return;
  }
  if (frame.type == FrameType::kDecided) {
    peer::Decided decided;
    if (peer::Decode(frame.payload, &decided)) relays_->OnDecided(decided);
    return;
  }
  if (frame.type == FrameType::kReturned || frame.type == FrameType::kUnbegun) {
    peer::Returned returned;
    const bool is_blocked = frame.type == FrameType::kUnbegun;
    if (peer::Decode(frame.payload, &returned)) relays_->OnReturned(returned, is_blocked);
    return;
  }
  if (frame.type == FrameType::kEnded) {
    peer::Ended end;
    if (peer::Decode(frame.payload, &end)) relays_->OnEnded(end);
    return;
  }
  peer::Sequence answer;
  if (!peer::Decode(frame.payload, &answer)) return;
  const bool was_full = link->sent.size() >= limits::kPeerUnackedMax;
  if (frame.type == FrameType::kTaken) {
    while (link->sent.size() > link->unsent &&
           static_cast<int32_t>(link->sent.front().connection.sequence - answer.sequence) <= 0) {
      close(link->sent.front().connection.fd);
      link->sent.pop_front();
    }
  } else if (frame.type == FrameType::kDeclined) {
    const auto end = link->sent.end() - static_cast<std::ptrdiff_t>(link->unsent);
    const auto found = std::find_if(link->sent.begin(), end, [&](const Sent& sent) {
      return sent.connection.sequence == answer.sequence;
    });
    if (found == end) return;
    HandedConnection connection = std::move(found->connection);
    link->sent.erase(found);
    owner_->OnTakenBack(std::move(connection));
  }
  if (was_full) owner_->OnLinkFree();
}

// Ends a link, and takes back connections that the peer has not acknowledged; it cannot acknowledge
// them any more. They are marked before the peer can see the end of the link.
void PeerLinks::GiveUp(uint64_t member, bool is_silent) {
  const auto found = links_.find(member);
  if (found == links_.end()) return;
  Channel* channel = found->second.channel;
  for (const Sent& sent : found->second.sent) MarkTakenBack(sent.connection.fd);
  channel->ShutDown();
  channel->ReadRest();
  // ReadRest() handles the member's last frames, one of which may have given up this link.
  const auto rest = links_.find(member);
  if (rest == links_.end() || rest->second.channel != channel) return;
  channel->Close();
  std::deque<Sent> left = std::move(rest->second.sent);
  blocked_.OnGone(channel);
  members_.erase(channel);
  links_.erase(rest);
  if (is_silent) {
    silent_until_ms_[member] = uv_now(loop_) + limits::kPeerSilentMs;
    Connect(member);
  } else {
    silent_until_ms_.erase(member);
  }
  for (Sent& sent : left) owner_->OnTakenBack(std::move(sent.connection));
  if (is_silent || !sharing::IsGone(member)) relays_->OnLinkCut(member);
  owner_->OnLinkFree();
}

bool PeerLinks::HasUnacknowledged() {
  ReadAcknowledgements();
  return std::any_of(links_.begin(), links_.end(),
                     [](const auto& item) { return !item.second.sent.empty(); });
}

// Reads acknowledgements that have come. They wake no thread: that would cost as much as the
// hand-over.
void PeerLinks::ReadAcknowledgements() {
  std::vector<uint64_t> waiting;
  for (const auto& [member, link] : links_) {
    if (!link.sent.empty()) waiting.push_back(member);
  }
  for (const uint64_t member : waiting) ReadNow(member);
}

void PeerLinks::CheckAges() {
  ReadAcknowledgements();
  std::vector<uint64_t> silent;
  for (const auto& [member, link] : links_) {
    if (!link.sent.empty() && uv_now(loop_) - link.sent.front().since_ms >= limits::kPeerSilentMs) {
      silent.push_back(member);
    }
  }
  for (const uint64_t member : silent) GiveUp(member, true);
  const bool is_any = std::any_of(links_.begin(), links_.end(),
                                  [](const auto& item) { return !item.second.sent.empty(); });
  if (is_any) ArmTimer();
}

void PeerLinks::ArmTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<PeerLinks*>(timer->data)->CheckAges(); },
      limits::kPeerAckLookMs, 0);
}

// -- From peers.

void PeerLinks::Accept(int fd) {
  if (!sharing::IsOwnUser(fd) || received_.size() >= limits::kMembersMax) {
    close(fd);
    return;
  }
  auto* channel = new Channel(loop_, fd, this);
  if (channel->Start() != 0) {
    channel->Close();
    return;
  }
  received_[channel].number = next_number_;
  channels_[next_number_++] = channel;
}

void PeerLinks::OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) {
  uint64_t member = 0;
  if (Link* link = FindLink(channel, &member)) {
    CloseAll(fds);
    OnAnswer(link, member, frame);
    return;
  }
  const auto found = received_.find(channel);
  const bool is_sound = found != received_.end() && OnReceived(channel, &found->second, frame, fds);
  if (is_sound) return;
  if (found != received_.end()) {
    for (const HandedConnection& connection : found->second.connections) close(connection.fd);
    Forget(found);
  }
  channel->Close();
}

void PeerLinks::Forget(std::unordered_map<Channel*, Received>::iterator received) {
  const uint64_t number = received->second.number;
  const uint64_t member = received->second.member;
  const bool was_blocked = blocked_.OnGone(received->first);
  channels_.erase(number);
  received_.erase(received);
  if (askers_ != nullptr) askers_->OnLinkGone(number);
  if (was_blocked) owner_->OnFree(member, false);
}

// Handles a frame of a peer. Returns false if it is malformed. Closes the descriptors or passes
// them on in any case.
bool PeerLinks::OnReceived(Channel* channel, Received* received, const peer::Frame& frame,
                           std::span<const int> fds) {
  if (frame.type == FrameType::kHandOver) return OnHandOver(channel, received, frame, fds);
  if (frame.type == FrameType::kRelay && frame.fds <= 1) {
    return OnRelay(channel, received, frame, fds.empty() ? -1 : fds[0]);
  }
  if (frame.type == FrameType::kCacheHits || frame.type == FrameType::kCacheAsk ||
      frame.type == FrameType::kCacheFollow) {
    const bool is_sound = received->is_known && fds.size() <= 1;
    if (is_sound && askers_ != nullptr) {
      askers_->OnCacheFrame(received->number, frame, fds.empty() ? -1 : fds[0]);
    } else {
      CloseAll(fds);
    }
    return is_sound;
  }
  CloseAll(fds);
  if (frame.type == FrameType::kFree && received->is_known) owner_->OnFree(received->member, true);
  if (frame.type == FrameType::kHaste && received->is_known) patience_->OnHaste(uv_now(loop_));
  if (received->is_known) OnBlockedFrame(channel, received->member, frame.type);
  if (frame.type == FrameType::kDoubt && received->is_known) {
    peer::Doubt doubt;
    if (!peer::Decode(frame.payload, &doubt)) return false;
    owner_->OnDoubt(doubt.port);
  }
  // Types of a later protocol are ignored.
  if (frame.type != FrameType::kLink) return received->is_known;
  peer::Link hello;
  received->is_known = peer::Decode(frame.payload, &hello) && SpeaksOurProtocol(hello);
  received->member = hello.id;
  return received->is_known;
}

bool PeerLinks::OnHandOver(Channel* channel, Received* received, const peer::Frame& frame,
                           std::span<const int> fds) {
  struct Item {
    peer::HandOver message;
    std::string_view bytes;
  };
  std::vector<Item> items;
  peer::Reader reader(frame.payload);
  // A frame without descriptors, by which a silent member is asked, has one item.
  const size_t count = std::max<size_t>(frame.fds, 1);
  while (items.size() < count && reader.is_good()) {
    Item& item = items.emplace_back();
    reader(item.message);
    item.bytes = reader.Take(item.message.bytes);
  }
  if (!received->is_known || !reader.is_exact()) {
    CloseAll(fds);
    return false;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& [message, bytes] = items[i];
    if (i < fds.size() && owner_->CanTake(message.port)) {
      HandedConnection connection;
      connection.fd = fds[i];
      connection.port = message.port;
      connection.hops = message.hops;
      connection.idle_ms = message.idle_ms;
      connection.home = message.home;
      connection.bytes.assign(bytes);
      connection.sequence = message.sequence;
      received->connections.push_back(std::move(connection));
      continue;
    }
    if (i < fds.size()) close(fds[i]);
    if (Decline(channel, message.sequence)) continue;
    CloseAll(fds.subspan(std::min(i + 1, fds.size())));
    return false;
  }
  return true;
}

bool PeerLinks::Decline(Channel* channel, uint32_t sequence) {
  channel->Send(FrameType::kDeclined, peer::Encode(peer::Sequence{sequence}));
  return channel->unsent_bytes() <= limits::kPeerUnackedMax * peer::kFrameHeaderBytes * 2;
}

bool PeerLinks::OnRelay(Channel* channel, Received* received, const peer::Frame& frame, int fd) {
  peer::Relay message;
  const bool is_sound = received->is_known && peer::Decode(frame.payload, &message);
  const bool is_welcome =
      is_sound && fd != -1 && LeavesDescriptors(fd) && owner_->CanTake(message.port);
  if (!is_welcome) {
    if (fd != -1) close(fd);
    if (!is_sound) return false;
    return Decline(channel, message.sequence);
  }
  HandedConnection connection;
  connection.fd = fd;
  connection.port = message.port;
  connection.hops = message.hops;
  connection.origin = std::make_unique<RelayOrigin>();
  connection.origin->link = received->number;
  connection.origin->id = message.id;
  Addresses& addresses = connection.origin->addresses;
  addresses.family = message.family == 4 || message.family == 6 ? message.family : 0;
  addresses.remote_port = message.remote_port;
  addresses.local_port = message.port;
  addresses.remote = message.remote.substr(0, limits::kAddressBytesMax);
  addresses.local = message.local.substr(0, limits::kAddressBytesMax);
  addresses.local_ip.is_ip = message.local_ip.size() == addresses.local_ip.ip.size();
  if (addresses.local_ip.is_ip) {
    std::copy(message.local_ip.begin(), message.local_ip.end(), addresses.local_ip.ip.begin());
  }
  connection.origin->trust = std::move(message.trust);
  connection.origin->is_stream = message.is_stream != 0;
  if (AreFacts(message.tls)) connection.origin->facts = std::move(message.tls);
  connection.sequence = message.sequence;
  received->connections.push_back(std::move(connection));
  return true;
}

void PeerLinks::OnBatchEnd(Channel* channel) {
  const auto found = received_.find(channel);
  if (found != received_.end()) TakeBatch(channel, &found->second);
}

// Acknowledges a batch of connections before their requests are handled. If that fails, the sender
// has given up and keeps the connections, or has died.
void PeerLinks::TakeBatch(Channel* channel, Received* received) {
  if (received->connections.empty()) return;
  std::vector<HandedConnection> connections = std::exchange(received->connections, {});
  const peer::Sequence last{connections.back().sequence};
  const bool is_told =
      channel->Send(FrameType::kTaken, peer::Encode(last)) && channel->unsent_bytes() == 0;
  if (!is_told) channel->ShutDown();
  const bool is_sender_gone = !is_told && sharing::IsGone(received->member);
  for (HandedConnection& connection : connections) {
    if (is_told || (is_sender_gone && IsOrphaned(received->member, connection))) {
      owner_->OnHandedOver(std::move(connection));
    } else {
      close(connection.fd);
    }
  }
}

// Called for a connection whose sender has died without an acknowledgement: returns true if no
// other process has the connection. Returns false if the sender had taken it back, because another
// member may have it, and for a relay, whose client has gone with the sender.
bool PeerLinks::IsOrphaned(uint64_t sender, const HandedConnection& connection) {
  return connection.origin == nullptr &&
         !WasTakenBack(connection.fd, HandOverNumber(sender, connection.sequence));
}

void PeerLinks::OnBroken(Channel* channel) {
  uint64_t member = 0;
  if (FindLink(channel, &member) != nullptr) {
    GiveUp(member, false);
    return;
  }
  const auto found = received_.find(channel);
  if (found != received_.end()) {
    TakeBatch(channel, &found->second);
    Forget(found);
  }
  channel->Close();
}

void PeerLinks::Close() {
  for (auto& [member, link] : links_) {
    link.channel->Close();
    for (const Sent& sent : link.sent) close(sent.connection.fd);
  }
  for (auto& [channel, received] : received_) channel->Close();
  links_.clear();
  members_.clear();
  received_.clear();
  channels_.clear();
  blocked_ = BlockedPeers();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

}  // namespace httpsys::engine
