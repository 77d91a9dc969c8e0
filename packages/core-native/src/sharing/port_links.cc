#include "sharing/port_links.h"

#include <utility>

#include "base/limits.h"

namespace httpsys::sharing {

LinkId PortLinks::Open(uv_loop_t* loop, int fd, Channel::Handler* handler, uint16_t port) {
  auto* channel = new Channel(loop, fd, handler);
  if (channel->Start() != 0) {
    channel->Close();
    return 0;
  }
  const LinkId link = ++last_;
  open_[link] = {channel, port};
  ids_[channel] = link;
  return link;
}

PortLinks::Place PortLinks::Find(Channel* channel) const {
  const auto found = ids_.find(channel);
  if (found == ids_.end()) return {};
  return {found->second, PortOf(found->second)};
}

uint16_t PortLinks::PortOf(LinkId link) const {
  const auto found = open_.find(link);
  return found == open_.end() ? 0 : found->second.port;
}

void PortLinks::Send(LinkId link, peer::FrameType type, std::string payload, bool is_cut_off) {
  const auto kind = is_cut_off ? Pending::Kind::kTell : Pending::Kind::kSend;
  if (PortOf(link) != 0) pending_.push_back({link, kind, type, std::move(payload), 0});
}

void PortLinks::SendSocket(LinkId link, const std::string& address) {
  const uint16_t port = PortOf(link);
  if (port == 0) return;
  pending_.push_back({link, Pending::Kind::kSocket, peer::FrameType::kSocket, address, port});
}

void PortLinks::Close(LinkId link) {
  const auto found = open_.find(link);
  if (found == open_.end() || found->second.port == 0) return;
  found->second.port = 0;
  pending_.push_back({link, Pending::Kind::kClose, {}, {}, 0});
}

void PortLinks::CloseOf(uint16_t port) {
  for (const auto& [link, entry] : open_) {
    if (entry.port == port) Close(link);
  }
}

void PortLinks::Flush(const SocketsOf& sockets_of) {
  for (const Pending& next : std::exchange(pending_, {})) {
    const auto found = open_.find(next.link);
    if (found == open_.end()) continue;
    Channel* const channel = found->second.channel;
    switch (next.kind) {
      case Pending::Kind::kSend:
        channel->Send(next.type, next.payload);
        break;
      case Pending::Kind::kTell:
        Tell(channel, next.type, next.payload, -1);
        break;
      case Pending::Kind::kSocket:
        for (const int fd : sockets_of(next.port, next.payload)) {
          Tell(channel, next.type, peer::Encode(peer::Sync{}), fd);
        }
        break;
      case Pending::Kind::kClose:
        Remove(channel);
    }
  }
}

// Sends a frame. If the member does not read, shuts down its link instead: OnBroken() follows.
void PortLinks::Tell(Channel* channel, peer::FrameType type, const std::string& payload, int fd) {
  if (channel->unsent_bytes() > limits::kPeerUnsentBytesMax) {
    channel->ShutDown();
  } else {
    channel->Send(type, payload, fd);
  }
}

size_t PortLinks::UnsentBytes(LinkId link) const {
  const auto found = open_.find(link);
  return found == open_.end() ? 0 : found->second.channel->unsent_bytes();
}

// True for a closed link, too: its end counts as unread.
bool PortLinks::HasUnread(LinkId link) const {
  const auto found = open_.find(link);
  return found == open_.end() ? link != 0 : found->second.channel->HasUnread();
}

bool PortLinks::HasEnded(LinkId link) const {
  const auto found = open_.find(link);
  return found == open_.end() || found->second.channel->HasEnded();
}

void PortLinks::Remove(Channel* channel) {
  const auto found = ids_.find(channel);
  if (found != ids_.end()) {
    open_.erase(found->second);
    ids_.erase(found);
  }
  if (!channel->is_closed()) channel->Close();
}

void PortLinks::CloseAll() {
  pending_.clear();
  open_.clear();
  for (const auto& [channel, link] : std::exchange(ids_, {})) channel->Close();
}

}  // namespace httpsys::sharing
