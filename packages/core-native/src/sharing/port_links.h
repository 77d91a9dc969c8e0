#pragma once
// The control connections of all ports of an engine: channels by LinkId, and the frames to be sent.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "peer/frame_reader.h"
#include "sharing/channel.h"
#include "sharing/port_effects.h"

namespace httpsys::sharing {

// Frames wait for Flush(), which keeps their order. Thread: any, with the lock of SharedPorts held;
// Open(), Flush(), UnsentBytes(), HasUnread(), HasEnded(), Remove(), CloseAll(): the loop's thread.
class PortLinks {
 public:
  PortLinks& operator=(PortLinks&&) = delete;

  struct Place {
    LinkId link = 0;
    uint16_t port = 0;  // 0 = the link is closing, or unknown: its frames are ignored.
  };

  // Returns true if bytes, or the end of the link, wait to be read. False for link 0.
  bool HasUnread(LinkId link) const;
  // Returns true if the other side or this one has closed the link.
  bool HasEnded(LinkId link) const;
  // Opens a link on a connected descriptor, which the link then owns. If the descriptor cannot be
  // watched, closes it and returns 0.
  LinkId Open(uv_loop_t* loop, int fd, Channel::Handler* handler, uint16_t port);
  Place Find(Channel* channel) const;
  void Send(LinkId link, peer::FrameType type, std::string payload, bool is_cut_off);
  // Sends the listening socket of the link's port that has this address; empty = all of them.
  void SendSocket(LinkId link, const std::string& address);
  void Close(LinkId link);
  void CloseOf(uint16_t port);
  bool has_pending() const { return !pending_.empty(); }
  // Returns the descriptors of a port's sockets with this address. The callee still owns them.
  using SocketsOf = std::function<std::vector<int>(uint16_t port, const std::string& address)>;
  void Flush(const SocketsOf& sockets_of);
  size_t UnsentBytes(LinkId link) const;
  // Closes a channel at once, even if its link is already forgotten.
  void Remove(Channel* channel);
  void CloseAll();

 private:
  struct Pending {
    enum class Kind : uint8_t { kSend, kTell, kSocket, kClose };

    LinkId link = 0;
    Kind kind = Kind::kSend;
    peer::FrameType type{};
    std::string payload;  // The frame's payload; with kSocket, the address of the socket.
    uint16_t port = 0;
  };
  struct Entry {
    Channel* channel = nullptr;
    uint16_t port = 0;
  };

  uint16_t PortOf(LinkId link) const;
  static void Tell(Channel* channel, peer::FrameType type, const std::string& payload, int fd);

  LinkId last_ = 0;
  std::map<LinkId, Entry> open_;
  std::map<Channel*, LinkId> ids_;
  std::vector<Pending> pending_;
};

}  // namespace httpsys::sharing
