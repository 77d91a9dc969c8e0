#pragma once
// HTTP.SYS: the backend of Windows.

#include <memory>

#include "backend/backend.h"

namespace httpsys {

BackendCapabilities HttpSysCapabilities();

// Opens a server session and a request queue, and starts the thread. Returns nullptr, and sets
// *status to a negative errno of libuv, if that fails.
std::unique_ptr<UrlBackend> CreateHttpSysBackend(BackendOptions options, int* status);

}  // namespace httpsys
