#include "engine/peer_links.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/limits.h"
#include "sharing/meeting_place.h"

namespace httpsys::engine {

using peer::FrameType;
using sharing::Channel;

namespace {

bool IsOurUser(int fd) {
  sharing::Credentials credentials;
  return sharing::ReadCredentials(fd, &credentials) && credentials.uid == geteuid();
}

bool SpeaksOurProtocol(const peer::Link& link) {
  return link.newest >= peer::kProtocolOldest && link.oldest <= peer::kProtocol;
}

}  // namespace

PeerLinks::PeerLinks(uv_loop_t* loop, uint64_t self, Owner* owner)
    : loop_(loop), self_(self), owner_(owner) {
  uv_timer_init(loop, &timer_);
  timer_.data = this;
}

// -- To peers.

PeerLinks::State PeerLinks::Prepare(uint64_t member) {
  const auto found = links_.find(member);
  if (found != links_.end()) {
    const bool is_full = found->second.sent.size() >= limits::kPeerUnackedMax ||
                         found->second.channel->unsent_bytes() > limits::kPeerUnsentBytesMax;
    return is_full ? State::kFull : State::kReady;
  }
  const int fd = sharing::ConnectTo(sharing::MemberName(member));
  if (fd == -EAGAIN) return State::kFull;
  if (fd < 0) return State::kGone;
  if (!IsOurUser(fd)) {
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
  links_[member].channel = channel;
  return State::kReady;
}

void PeerLinks::HandOver(uint64_t member, HandedConnection connection) {
  Link& link = links_[member];
  const peer::HandOver message{link.next_sequence++, connection.port, connection.hops,
                               connection.idle_ms};
  std::string payload = peer::Encode(message);
  payload.append(connection.bytes);
  // What cannot be sent is taken back when the link breaks.
  link.channel->Send(FrameType::kHandOver, payload, connection.fd);
  link.sent.push_back({message.sequence, uv_now(loop_), std::move(connection)});
  ArmTimer();
}

PeerLinks::Link* PeerLinks::FindLink(Channel* channel, uint64_t* member) {
  for (auto& [id, link] : links_) {
    if (link.channel != channel) continue;
    *member = id;
    return &link;
  }
  return nullptr;
}

void PeerLinks::OnAnswer(Link* link, const peer::Frame& frame) {
  peer::Sequence answer;
  if (!peer::Decode(frame.payload, &answer)) return;
  const bool was_full = link->sent.size() >= limits::kPeerUnackedMax;
  if (frame.type == FrameType::kTaken) {
    while (!link->sent.empty() &&
           static_cast<int32_t>(link->sent.front().sequence - answer.sequence) <= 0) {
      close(link->sent.front().connection.fd);
      link->sent.pop_front();
    }
  } else if (frame.type == FrameType::kDeclined) {
    const auto found = std::find_if(link->sent.begin(), link->sent.end(), [&](const Sent& sent) {
      return sent.sequence == answer.sequence;
    });
    if (found == link->sent.end()) return;
    HandedConnection connection = std::move(found->connection);
    link->sent.erase(found);
    owner_->OnTakenBack(std::move(connection));
  }
  if (was_full) owner_->OnLinkFree();
}

// What the peer has not taken so far it cannot take any more.
void PeerLinks::GiveUp(uint64_t member) {
  const auto found = links_.find(member);
  if (found == links_.end()) return;
  Channel* channel = found->second.channel;
  channel->ShutDown();
  channel->ReadRest();
  channel->Close();
  const std::deque<Sent> left = std::move(found->second.sent);
  links_.erase(found);
  for (const Sent& sent : left) owner_->OnTakenBack(sent.connection);
  owner_->OnLinkFree();
}

void PeerLinks::CheckAges() {
  std::vector<uint64_t> silent;
  for (const auto& [member, link] : links_) {
    if (!link.sent.empty() && uv_now(loop_) - link.sent.front().since_ms >= limits::kPeerAckMs) {
      silent.push_back(member);
    }
  }
  for (const uint64_t member : silent) GiveUp(member);
  ArmTimer();
}

void PeerLinks::ArmTimer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&timer_)) != 0) return;
  const bool is_needed = std::any_of(links_.begin(), links_.end(),
                                     [](const auto& item) { return !item.second.sent.empty(); });
  if (!is_needed) return;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<PeerLinks*>(timer->data)->CheckAges(); },
      limits::kPeerAckMs / 10, 0);
}

// -- From peers.

void PeerLinks::Accept(int fd) {
  if (!IsOurUser(fd) || received_.size() >= limits::kMembersMax) {
    close(fd);
    return;
  }
  auto* channel = new Channel(loop_, fd, this);
  if (channel->Start() != 0) {
    channel->Close();
    return;
  }
  received_[channel] = {};
}

void PeerLinks::OnFrame(Channel* channel, const peer::Frame& frame, int fd) {
  uint64_t member = 0;
  if (Link* link = FindLink(channel, &member)) {
    if (fd != -1) close(fd);
    OnAnswer(link, frame);
    return;
  }
  const auto found = received_.find(channel);
  const bool is_sound = found != received_.end() && OnReceived(channel, &found->second, frame, fd);
  if (is_sound) return;
  if (found != received_.end()) {
    for (const HandedConnection& connection : found->second.connections) close(connection.fd);
    received_.erase(found);
  }
  channel->Close();
}

// False: the peer speaks nonsense. The descriptor is closed or given on in any case.
bool PeerLinks::OnReceived(Channel* channel, Received* received, const peer::Frame& frame, int fd) {
  if (frame.type != FrameType::kHandOver) {
    if (fd != -1) close(fd);
    if (frame.type != FrameType::kLink) return received->is_known;  // Of a later protocol.
    peer::Link hello;
    received->is_known = peer::Decode(frame.payload, &hello) && SpeaksOurProtocol(hello);
    return received->is_known;
  }
  peer::HandOver message;
  peer::Reader reader(frame.payload);
  reader(message);
  if (!received->is_known || !reader.is_good()) {
    if (fd != -1) close(fd);
    return false;
  }
  if (fd == -1 || !owner_->CanTake(message.port)) {
    if (fd != -1) close(fd);
    channel->Send(FrameType::kDeclined, peer::Encode(peer::Sequence{message.sequence}));
    return true;
  }
  received->connections.push_back(
      {fd, message.port, message.hops, message.idle_ms, std::string(reader.rest())});
  received->sequence = message.sequence;
  return true;
}

void PeerLinks::OnBatchEnd(Channel* channel) {
  const auto found = received_.find(channel);
  if (found != received_.end()) TakeBatch(channel, &found->second);
}

// The acknowledgement comes before the requests are handled. When it cannot be sent the sender has
// given up and keeps the connections.
void PeerLinks::TakeBatch(Channel* channel, Received* received) {
  if (received->connections.empty()) return;
  std::vector<HandedConnection> connections = std::exchange(received->connections, {});
  const bool is_told =
      channel->Send(FrameType::kTaken, peer::Encode(peer::Sequence{received->sequence})) &&
      channel->unsent_bytes() == 0;
  if (!is_told) channel->ShutDown();
  for (HandedConnection& connection : connections) {
    if (is_told) {
      owner_->OnHandedOver(std::move(connection));
    } else {
      close(connection.fd);
    }
  }
}

void PeerLinks::OnBroken(Channel* channel) {
  uint64_t member = 0;
  if (FindLink(channel, &member) != nullptr) {
    GiveUp(member);
    return;
  }
  const auto found = received_.find(channel);
  if (found != received_.end()) TakeBatch(channel, &found->second);
  received_.erase(channel);
  channel->Close();
}

void PeerLinks::Close() {
  for (auto& [member, link] : links_) {
    link.channel->Close();
    for (const Sent& sent : link.sent) close(sent.connection.fd);
  }
  for (auto& [channel, received] : received_) channel->Close();
  links_.clear();
  received_.clear();
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
}

}  // namespace httpsys::engine
