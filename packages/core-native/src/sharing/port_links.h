#pragma once
// The control connections of all ports of an engine: channels by their LinkId, and what is to be
// sent on them.

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

// Thread: any, with the lock of SharedPorts; but Open(), Flush(), UnsentBytes(), Remove() and
// CloseAll() on the thread of the loop only. What is sent waits for Flush(), in order.
class PortLinks {
 public:
  PortLinks() = default;
  PortLinks(const PortLinks&) = delete;
  PortLinks& operator=(const PortLinks&) = delete;

  struct Place {
    LinkId link = 0;
    uint16_t port = 0;  // 0 = the link is to be closed, and nobody hears of it any more.
  };

  // Takes a connected descriptor over. 0 when it cannot be watched; it is closed then.
  LinkId Open(uv_loop_t* loop, int fd, Channel::Handler* handler, uint16_t port);
  Place Find(Channel* channel) const;
  void Send(LinkId link, peer::FrameType type, std::string payload, bool is_cut_off);
  // A listening socket of the link's port, by its address; empty = all.
  void SendSocket(LinkId link, const std::string& address);
  void Close(LinkId link);
  // The port is given back.
  void CloseOf(uint16_t port);
  bool has_pending() const { return !pending_.empty(); }
  // Descriptors of a port by address, which stay the callee's.
  using SocketsOf = std::function<std::vector<int>(uint16_t port, const std::string& address)>;
  void Flush(const SocketsOf& sockets_of);
  size_t UnsentBytes(LinkId link) const;
  // Closes a channel at once. Also one that is not known any more.
  void Remove(Channel* channel);
  void CloseAll();

 private:
  struct Pending {
    enum class Kind : uint8_t { kSend, kTell, kSocket, kClose };

    LinkId link = 0;
    Kind kind = Kind::kSend;
    peer::FrameType type{};
    std::string payload;  // Of kSocket: the address.
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
