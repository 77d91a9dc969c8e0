#pragma once
// The methods of the addon for the output cache of the process.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> CacheMethods();

}  // namespace httpsys
