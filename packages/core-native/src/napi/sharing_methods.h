#pragma once
// Methods of `Engine` for ports that other processes share.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> SharingMethods();

// Passes the results of registrations that other members had to decide to JavaScript.
void DeliverResults(EngineWrap* engine);

}  // namespace httpsys
