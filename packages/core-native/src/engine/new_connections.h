#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/lane_parts.h"

namespace httpsys::engine {

// Connections that a lane was given and has not opened yet. Thread: the lane.
class NewConnections {
 public:
  // `load` counts the connections, as in Transport.
  NewConnections(LaneParts* parts, std::atomic<uint32_t>* load) : parts_(parts), load_(load) {}
  NewConnections& operator=(NewConnections&&) = delete;

  // Adds accepted connections, and takes their descriptors over.
  void Add(uint32_t server_id, const std::vector<int>& fds);
  bool has_accepted() const { return !accepted_.empty(); }
  // True if connections wait for OpenEarly(): their clients had sent nothing at the first look.
  bool has_early() const { return !early_.empty(); }
  // Opens the added connections. `may_wait`: connections without a request so far may be left to
  // OpenEarly().
  void Open(bool may_wait);
  // Opens the connections that waited for their request. Most clients have sent it by now; watching
  // for it would cost more than passing the connection to another member.
  void OpenEarly();
  // Makes Open() and OpenEarly() close all connections from now on.
  void Close() { is_closed_ = true; }

 private:
  struct Accepted {
    uint32_t server_id;
    int fd;
  };

  // Opens one connection or passes it on to another member. Returns false if the connection has no
  // request so far and must be tried again.
  bool Take(const Accepted& accepted, bool may_wait);

  LaneParts* parts_;
  std::atomic<uint32_t>* load_;
  std::vector<Accepted> accepted_;
  std::vector<Accepted> early_;
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
