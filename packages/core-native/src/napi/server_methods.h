#pragma once
// Methods of `Engine` for servers, on every backend.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> ServerMethods();

}  // namespace httpsys
