#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/lane_parts.h"

namespace httpsys::engine {

// The connections that a lane was given and has still to open. Thread: the lane.
class NewConnections {
 public:
  // `load` counts the connections, as in Transport.
  NewConnections(LaneParts* parts, std::atomic<uint32_t>* load) : parts_(parts), load_(load) {}
  NewConnections(const NewConnections&) = delete;
  NewConnections& operator=(const NewConnections&) = delete;

  // Takes the descriptors over.
  void Add(uint32_t server_id, const std::vector<int>& fds);
  bool has_accepted() const { return !accepted_.empty(); }
  // True if there are connections whose clients had sent nothing when they were accepted.
  bool has_early() const { return !early_.empty(); }
  // Opens what was added. `may_wait`: connections without a request so far may be opened later, by
  // OpenEarly().
  void Open(bool may_wait);
  // Opens the connections that waited for their request. Most of them have sent by now. Watching
  // one for that costs more than the rest of its way to another member.
  void OpenEarly();
  // From now on, what comes is closed.
  void Close() { is_closed_ = true; }

 private:
  struct Accepted {
    uint32_t server_id;
    int fd;
  };

  // Opens one connection or passes it on to another member. Returns false if it has no request so
  // far and shall be looked at again.
  bool Take(const Accepted& accepted, bool may_wait);

  LaneParts* parts_;
  std::atomic<uint32_t>* load_;
  std::vector<Accepted> accepted_;
  std::vector<Accepted> early_;
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
