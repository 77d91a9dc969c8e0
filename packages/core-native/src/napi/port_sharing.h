#pragma once
// Converts registrations of types/binding.d.ts for the backends, and implements `serviceState`.

#include <napi.h>

#include "backend/backend.h"

namespace httpsys {

Napi::Object ResultObject(Napi::Env env, const RegistrationResult& result);
Napi::Object SocketsObject(Napi::Env env, const PortSockets& there);
// Implements useRuntimeDirectory(path).
Napi::Value UseRuntimeDirectory(const Napi::CallbackInfo& info);
// Implements portName(port).
Napi::Value PortName(const Napi::CallbackInfo& info);
// Implements serviceState(port, callback).
void ServiceState(const Napi::CallbackInfo& info);

}  // namespace httpsys
