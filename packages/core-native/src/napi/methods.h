#pragma once
// The functions and methods of the addon that types/binding.d.ts describes, by the files that
// define them.

#include <napi.h>

#include <vector>

#include "backend/backend.h"
#include "napi/engine_wrap.h"
#include "napi/host_backend.h"

namespace httpsys {

// -- server_methods.cc: methods of `Engine` for servers, on every backend.

std::vector<EngineMethod> ServerMethods();

// -- lane_methods.cc: methods of `Engine` for the memory and the records of its lanes.

std::vector<EngineMethod> LaneMethods();

// -- socket_methods.cc or url_methods.cc, of which one is compiled: what differs between backends.

std::vector<EngineMethod> HostMethods();
// Adds the functions that need no engine to the addon's exports.
void AddHostExports(Napi::Env env, Napi::Object exports);
// Must be called after each batch of records. It may close the backend.
void AfterBatch(EngineWrap* engine);
// Must be called when the environment of the backend ends, before published replies are sent.
void BeforeEnd(HostBackend* backend);

// -- file_methods.cc: methods of `Engine` for the files that JavaScript has open in its table.

std::vector<EngineMethod> FileMethods();

// -- cache_methods.cc: methods for the output cache of the process.

std::vector<EngineMethod> CacheMethods();

// -- sharing_methods.cc and port_sharing.cc: ports that other processes share.

std::vector<EngineMethod> SharingMethods();
// Passes the results of registrations that other members had to decide to JavaScript.
void DeliverResults(EngineWrap* engine);
Napi::Object ResultObject(Napi::Env env, const RegistrationResult& result);
Napi::Object SocketsObject(Napi::Env env, const PortSockets& there);
// Implements useRuntimeDirectory(path).
Napi::Value UseRuntimeDirectory(const Napi::CallbackInfo& info);
// Implements portName(port).
Napi::Value PortName(const Napi::CallbackInfo& info);
// Implements serviceState(port, callback).
void ServiceState(const Napi::CallbackInfo& info);

// -- tls_settings.cc: JavaScript's TLS options, its decisions in handshakes, and its questions.

std::vector<EngineMethod> TlsMethods();
// Implement createTlsContext(settings), copyTlsHost(context) and createTicketKeys(bytes).
Napi::Value CreateTlsContext(const Napi::CallbackInfo& info);
Napi::Value CopyTlsHost(const Napi::CallbackInfo& info);
Napi::Value CreateTicketKeys(const Napi::CallbackInfo& info);
// Implements makeDevCertificate(names, days).
Napi::Value MakeDevCertificate(const Napi::CallbackInfo& info);
HelloReply ReadHelloReply(Napi::Object given);

// -- signal_watch.cc.

// Implements watchSignal(signal number, callback). Returns a function that ends the watch, or
// undefined if the system refuses. The callback runs on the environment's event loop, which the
// watch does not keep alive. A watched signal has no default action.
// `process.listenerCount(signal)` does not count the watch: programs use that number to decide
// whether they must end the process themselves.
Napi::Value WatchSignal(const Napi::CallbackInfo& info);

// -- system_config.cc: `systemConfig` of types/binding.d.ts.

Napi::Object SystemConfig(Napi::Env env);

}  // namespace httpsys
