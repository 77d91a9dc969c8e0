#pragma once
// What the addon has beside the methods that every backend has. Defined in socket_methods.cc or
// url_methods.cc, whichever is compiled.

#include <napi.h>

#include <vector>

#include "napi/engine_wrap.h"
#include "napi/host_backend.h"

namespace httpsys {

std::vector<EngineMethod> HostMethods();
// Adds the functions that need no engine to the addon's exports.
void AddHostExports(Napi::Env env, Napi::Object exports);
// Called after each batch of records. The backend may be closed in it.
void AfterBatch(EngineWrap* engine);
// Called when the environment of the backend ends, before what is published is sent.
void BeforeEnd(HostBackend* backend);

}  // namespace httpsys
