#pragma once

#include <cstdint>

#include "engine/config/server_config.h"

namespace httpsys::engine {

struct Connection;

// The stage of a connection's life.
enum class Life : uint8_t {
  kOpen,       // The connection has its slot.
  kLingering,  // JavaScript got kClosed. Further input is thrown away.
  kClosing,    // The descriptor is closed. libuv has yet to let go of the memory.
};

// The place of a connection or stream among those of its lane and of its server. Only
// ConnectionList writes it; everybody reads it.
class ListState {
 public:
  Life life() const { return life_; }
  // nullptr = the connection is not open any more.
  LaneServer* server() const { return server_; }

 private:
  friend class ConnectionList;

  LaneServer* server_ = nullptr;
  // The list of all connections of the lane.
  Connection* previous_ = nullptr;
  Connection* next_ = nullptr;
  Life life_ = Life::kOpen;
};

}  // namespace httpsys::engine
