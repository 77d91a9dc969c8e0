#pragma once
// Methods of `Engine` for the memory and the records of its lanes.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> LaneMethods();

}  // namespace httpsys
