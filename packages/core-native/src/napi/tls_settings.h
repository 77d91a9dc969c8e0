#pragma once
// Makes handles for JavaScript from its TLS options.

#include <napi.h>

#include "backend/backend.h"

namespace httpsys {

// createTlsContext(settings), copyTlsHost(context), createTicketKeys(bytes): types/binding.d.ts.
Napi::Value CreateTlsContext(const Napi::CallbackInfo& info);
Napi::Value CopyTlsHost(const Napi::CallbackInfo& info);
Napi::Value CreateTicketKeys(const Napi::CallbackInfo& info);
// makeDevCertificate(names, days)
Napi::Value MakeDevCertificate(const Napi::CallbackInfo& info);

HelloReply ReadHelloReply(Napi::Object given);

}  // namespace httpsys
