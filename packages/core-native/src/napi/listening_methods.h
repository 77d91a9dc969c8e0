#pragma once
// Methods of `Engine` for the sockets and connections of servers, and for requests that servers
// give up.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> ListeningMethods();

}  // namespace httpsys
