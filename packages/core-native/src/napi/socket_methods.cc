// The addon's parts for a backend that is given sockets; url_methods.cc has those for URLs.

#include <string>
#include <vector>

#include "napi/arguments.h"
#include "napi/methods.h"

namespace httpsys {
namespace {

Napi::Value Listen(EngineWrap& engine, const Napi::CallbackInfo& info) {
  const Descriptor fd(static_cast<int>(Number(info, 1)));
  const int backlog = static_cast<int>(Number(info, 2));
  const bool may_lend = info[3].ToBoolean();
  const int status = engine.backend() == nullptr
                         ? UV_EBADF
                         : engine.backend()->Listen(Number(info, 0), fd, backlog, may_lend);
  return Napi::Number::New(info.Env(), status);
}

void StopListening(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr)
    engine.backend()->StopListening(static_cast<int>(Number(info, 0)));
}

Napi::Value Adopt(EngineWrap& engine, const Napi::CallbackInfo& info) {
  const Descriptor fd(static_cast<int>(Number(info, 1)));
  const int status =
      engine.backend() == nullptr ? UV_EBADF : engine.backend()->Adopt(Number(info, 0), fd);
  return Napi::Number::New(info.Env(), status);
}

void RefuseAbandoned(EngineWrap& engine, const Napi::CallbackInfo&) {
  if (engine.backend() != nullptr) engine.backend()->RefuseAbandoned();
}

Napi::Value TakeClaim(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  const bool is_known = engine.ReadLane(info, &lane) && engine.backend() != nullptr;
  const records::Claim claim = is_known ? engine.backend()->TakeClaim(lane) : records::Claim::kNone;
  return Napi::Number::New(info.Env(), static_cast<uint32_t>(claim));
}

}  // namespace

std::vector<EngineMethod> ListeningMethods() {
  return {
      EngineWrap::Method<Listen>("listen"),
      EngineWrap::Method<StopListening>("stopListening"),
      EngineWrap::Method<Adopt>("adopt"),
      EngineWrap::Method<RefuseAbandoned>("refuseAbandoned"),
      EngineWrap::Method<TakeClaim>("takeClaim"),
  };
}

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
