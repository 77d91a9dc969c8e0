#pragma once

#include <cstdint>

#include "engine/config/server_config.h"

namespace httpsys::engine {

struct Connection;

// The stage of a connection's life.
enum class Life : uint8_t {
  kOpen,       // The connection is in use: it is read and written.
  kLingering,  // JavaScript got kClosed. Further input is thrown away.
  kClosing,    // The descriptor is closed. The memory is freed later.
};

// The place of a connection or stream in the lists of its lane and of its server. Only
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
