// For systems that do not say how much of a socket's send buffer is free.

#include "engine/connection/socket_room.h"

namespace httpsys::engine {

bool MayTake(int /*socket*/, size_t /*bytes*/) { return true; }

}  // namespace httpsys::engine
