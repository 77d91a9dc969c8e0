#pragma once
// Methods of `Engine` for JavaScript's decisions in TLS handshakes, and its questions about TLS
// connections.

#include <vector>

#include "napi/engine_wrap.h"

namespace httpsys {

std::vector<EngineMethod> TlsMethods();

}  // namespace httpsys
