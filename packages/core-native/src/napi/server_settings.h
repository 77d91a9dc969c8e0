#pragma once
// Converts ServerConfig of types/binding.d.ts for the backends.

#include <napi.h>

#include <string>
#include <vector>

#include "backend/backend.h"

namespace httpsys {

// Reads the settings of a server. Returns false if a member is missing or has another type.
// JavaScript has checked the ranges.
bool ReadServerSettings(Napi::Object config, ServerSettings* settings);

// Reads the members that only one kind of backend has: TLS in tls_settings.cc, or settings of a
// kernel that serves by itself in url_methods.cc, of which one is compiled.
bool ReadBackendSettings(Napi::Object config, ServerSettings* settings);

// Appends an array of `{ id, text }`. Returns false if an element is anything else.
bool ReadNumberedPrefixes(Napi::Array list, std::vector<NumberedPrefix>* prefixes);

// Returns the strings of an array, without elements of other types.
std::vector<std::string> Strings(Napi::Array array);

}  // namespace httpsys
