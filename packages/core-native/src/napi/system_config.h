#pragma once

#include <napi.h>

namespace httpsys {

// `systemConfig` of types/binding.d.ts.
Napi::Object SystemConfig(Napi::Env env);

}  // namespace httpsys
