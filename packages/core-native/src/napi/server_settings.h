#pragma once
// ServerConfig of types/binding.d.ts as the backends know it.

#include <napi.h>

#include <string>
#include <vector>

#include "common/backend.h"

namespace httpsys {

// False when a member is missing or of another type. JavaScript has checked the ranges.
bool ReadServerSettings(Napi::Object config, ServerSettings* settings);

// What it says of TLS. In tls_settings.cc, or url_methods.cc where that is not compiled.
bool ReadTlsSettings(Napi::Object config, ServerSettings* settings);

// The strings of an array; others are left out.
std::vector<std::string> Strings(Napi::Array array);

}  // namespace httpsys
