#pragma once
// Methods of `Engine` for the files that JavaScript has open in the engine's table.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> FileMethods();

}  // namespace httpsys
