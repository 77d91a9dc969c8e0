#pragma once
// Returns the numbers of records/records.h by name, for the test that compares them with
// lib/records/records.js.

#include <napi.h>

namespace httpsys {

Napi::Object RecordConstants(Napi::Env env);
// Returns the fields of records/layout.h by name: word, lowest bit, number of bits.
Napi::Object RecordFields(Napi::Env env);

}  // namespace httpsys
