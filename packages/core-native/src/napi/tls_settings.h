#pragma once
// Makes objects of the TLS options, which JavaScript keeps as handles.

#include <napi.h>

#include <memory>

#include "tls/server_context.h"
#include "tls/session.h"

namespace httpsys {

// createTlsContext(settings), copyTlsHost(context), createTicketKeys(bytes): types/binding.d.ts.
Napi::Value CreateTlsContext(const Napi::CallbackInfo& info);
Napi::Value CopyTlsHost(const Napi::CallbackInfo& info);
Napi::Value CreateTicketKeys(const Napi::CallbackInfo& info);
// makeDevCertificate(names, days)
Napi::Value MakeDevCertificate(const Napi::CallbackInfo& info);

// Returns the context of a handle of createTlsContext(); nullptr for any other value.
std::shared_ptr<const tls::ServerContext> TlsContextOf(Napi::Value value);
tls::HelloAnswer ReadHelloAnswer(Napi::Object given);

}  // namespace httpsys
