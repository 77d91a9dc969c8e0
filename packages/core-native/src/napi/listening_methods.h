#pragma once
// Methods of `Engine` for the sockets and connections of servers, and the requests that they give
// up.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> ListeningMethods();

}  // namespace httpsys
