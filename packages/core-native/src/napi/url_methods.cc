// Methods of `Engine` for a backend that is told URLs; socket_methods.cc has those for sockets.

#include <string>
#include <vector>

#include "napi/arguments.h"
#include "napi/engine_wrap.h"
#include "napi/server_settings.h"

namespace httpsys {

std::vector<Napi::ClassPropertyDescriptor<EngineWrap>> EngineWrap::ListeningMethods() {
  return {
      InstanceMethod<&EngineWrap::AddUrl>("addUrl"),
      InstanceMethod<&EngineWrap::RemoveUrl>("removeUrl"),
  };
}

// What other processes have registered is the operating system's to tell.
void EngineWrap::AddListeningExports(Napi::Env env, Napi::Object exports) {
  exports.Set("hasHttp2", Napi::Boolean::New(env, false));
}

// Certificates are the operating system's.
bool ReadTlsSettings(Napi::Object, ServerSettings*) { return true; }

Napi::Value EngineWrap::AddUrl(const Napi::CallbackInfo& info) {
  if (backend_ == nullptr || !info[2].IsString()) return info.Env().Undefined();
  const uint32_t status =
      backend_->AddUrl(Number(info, 0), Number(info, 1), info[2].As<Napi::String>());
  return Napi::Number::New(info.Env(), status);
}

void EngineWrap::RemoveUrl(const Napi::CallbackInfo& info) {
  if (backend_ != nullptr) backend_->RemoveUrl(Number(info, 0), Number(info, 1));
}

}  // namespace httpsys
