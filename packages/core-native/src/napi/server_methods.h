#pragma once
// Methods of `Engine` for servers, whichever the backend is.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> ServerMethods();

}  // namespace httpsys
