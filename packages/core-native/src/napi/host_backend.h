#pragma once
// The backend of the system for which the addon is compiled. No other file makes this choice.

#include <memory>
#include <utility>

#include "backend/backend.h"

#ifdef _WIN32
#include "backend/create_http_sys_backend.h"
#else
#include "backend/create_engine.h"
#endif

namespace httpsys {

#ifdef _WIN32
using HostBackend = UrlBackend;

inline std::unique_ptr<HostBackend> CreateHostBackend(BackendOptions options, int* status) {
  return CreateHttpSysBackend(std::move(options), status);
}

inline BackendCapabilities HostCapabilities() { return HttpSysCapabilities(); }
#else
using HostBackend = SocketBackend;

inline std::unique_ptr<HostBackend> CreateHostBackend(BackendOptions options, int* status) {
  return CreateEngine(std::move(options), status);
}

inline BackendCapabilities HostCapabilities() {
  BackendCapabilities capabilities = kEngineCapabilities;
  capabilities.cache_codings = CacheCodings();
  return capabilities;
}
#endif

}  // namespace httpsys
