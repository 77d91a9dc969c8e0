// The addon's parts for a backend that is given sockets; url_methods.cc has those for URLs.

#include <string>
#include <vector>

#include "napi/cache_methods.h"
#include "napi/file_methods.h"
#include "napi/host_methods.h"
#include "napi/listening_methods.h"
#include "napi/port_sharing.h"
#include "napi/sharing_methods.h"
#include "napi/signal_watch.h"
#include "napi/tls_methods.h"
#include "napi/tls_settings.h"

namespace httpsys {
namespace {

Napi::Value OpenLog(const Napi::CallbackInfo& info) {
  std::string path;
  const int error = OpenErrorLog(&path);
  if (error == 0) return info.Env().Undefined();
  Napi::Object failure = Napi::Object::New(info.Env());
  failure.Set("path", Napi::String::New(info.Env(), path));
  failure.Set("error", Napi::Number::New(info.Env(), -error));
  return failure;
}

void TellOfRefusals(const Napi::CallbackInfo& info) {
  if (info[0].IsString()) TellRefusals(info[0].As<Napi::String>());
}

}  // namespace

std::vector<EngineMethod> HostMethods() {
  std::vector<EngineMethod> methods = ListeningMethods();
  for (const std::vector<EngineMethod>& more :
       {CacheMethods(), FileMethods(), SharingMethods(), TlsMethods()}) {
    methods.insert(methods.end(), more.begin(), more.end());
  }
  return methods;
}

void AddHostExports(Napi::Env env, Napi::Object exports) {
  exports.Set("useRuntimeDirectory",
              Napi::Function::New<UseRuntimeDirectory>(env, "useRuntimeDirectory"));
  exports.Set("portName", Napi::Function::New<PortName>(env, "portName"));
  exports.Set("serviceState", Napi::Function::New<ServiceState>(env, "serviceState"));
  exports.Set("openErrorLog", Napi::Function::New<OpenLog>(env, "openErrorLog"));
  exports.Set("tellRefusals", Napi::Function::New<TellOfRefusals>(env, "tellRefusals"));
  exports.Set("createTlsContext", Napi::Function::New<CreateTlsContext>(env, "createTlsContext"));
  exports.Set("copyTlsHost", Napi::Function::New<CopyTlsHost>(env, "copyTlsHost"));
  exports.Set("createTicketKeys", Napi::Function::New<CreateTicketKeys>(env, "createTicketKeys"));
  exports.Set("makeDevCertificate",
              Napi::Function::New<MakeDevCertificate>(env, "makeDevCertificate"));
  exports.Set("watchSignal", Napi::Function::New<WatchSignal>(env, "watchSignal"));
  exports.Set("hasHttp2", Napi::Boolean::New(env, HasHttp2()));
}

void AfterBatch(EngineWrap* engine) { DeliverResults(engine); }

void BeforeEnd(HostBackend* backend) { backend->RefuseAbandoned(); }

}  // namespace httpsys
