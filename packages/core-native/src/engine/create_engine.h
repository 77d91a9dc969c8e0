#pragma once
// The engine: the backend of systems without an HTTP stack in their kernel.

#include <memory>

#include "common/backend.h"

namespace httpsys {

// Starts the threads. nullptr and a negative errno when one of them cannot be started.
std::unique_ptr<Backend> CreateEngine(BackendOptions options, int* status);

// Whether the running program has what HTTP/2 needs.
bool HasHttp2();

}  // namespace httpsys
