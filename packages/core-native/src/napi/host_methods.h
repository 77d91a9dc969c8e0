#pragma once
// The parts of the addon that differ between backends. Defined in socket_methods.cc or
// url_methods.cc, of which one is compiled.

#include <napi.h>

#include <vector>

#include "napi/engine_wrap.h"
#include "napi/host_backend.h"

namespace httpsys {

std::vector<EngineMethod> HostMethods();
// Adds the functions that need no engine to the addon's exports.
void AddHostExports(Napi::Env env, Napi::Object exports);
// Must be called after each batch of records. It may close the backend.
void AfterBatch(EngineWrap* engine);
// Must be called when the environment of the backend ends, before published replies are sent.
void BeforeEnd(HostBackend* backend);

}  // namespace httpsys
