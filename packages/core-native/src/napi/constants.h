#pragma once
// The numbers of records/records.h by name, for the test that compares lib/records/records.js with
// them.

#include <napi.h>

namespace httpsys {

Napi::Object RecordConstants(Napi::Env env);
// By name: word, lowest bit, number of bits.
Napi::Object RecordFields(Napi::Env env);

}  // namespace httpsys
