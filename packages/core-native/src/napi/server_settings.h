#pragma once
// ServerConfig of types/binding.d.ts as the backends know it.

#include <napi.h>

#include <string>
#include <vector>

#include "backend/backend.h"

namespace httpsys {

// False when a member is missing or of another type. JavaScript has checked the ranges.
bool ReadServerSettings(Napi::Object config, ServerSettings* settings);

// What it says for one kind of backend only: of TLS in tls_settings.cc, of a kernel that serves by
// itself in url_methods.cc, whichever is compiled.
bool ReadBackendSettings(Napi::Object config, ServerSettings* settings);

// The strings of an array; others are left out.
std::vector<std::string> Strings(Napi::Array array);

}  // namespace httpsys
