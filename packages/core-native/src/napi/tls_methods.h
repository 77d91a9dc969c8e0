#pragma once
// Methods of `Engine` for what JavaScript decides in TLS handshakes, and asks of TLS connections.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> TlsMethods();

}  // namespace httpsys
