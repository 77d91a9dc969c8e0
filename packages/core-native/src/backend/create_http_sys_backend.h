#pragma once
// HTTP.SYS: the backend of Windows.

#include <memory>

#include "backend/backend.h"

namespace httpsys {

BackendCapabilities HttpSysCapabilities();

// Opens a server session and a request queue and starts the thread. nullptr and a negative errno of
// libuv when that fails.
std::unique_ptr<UrlBackend> CreateHttpSysBackend(BackendOptions options, int* status);

}  // namespace httpsys
