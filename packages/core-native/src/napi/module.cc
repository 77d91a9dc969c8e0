// The addon: what types/binding.d.ts declares.

#include <napi.h>

#include "common/records.h"
#include "engine/create_engine.h"
#include "napi/constants.h"
#include "napi/engine_wrap.h"
#include "napi/port_sharing.h"
#include "napi/tls_settings.h"

namespace httpsys {
namespace {

void FatalException(const Napi::CallbackInfo& info) { napi_fatal_exception(info.Env(), info[0]); }

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("Engine", EngineWrap::Define(env));
  exports.Set("fatalException", Napi::Function::New<FatalException>(env, "fatalException"));
  exports.Set("serviceState", Napi::Function::New<ServiceState>(env, "serviceState"));
  exports.Set("createTlsContext", Napi::Function::New<CreateTlsContext>(env, "createTlsContext"));
  exports.Set("copyTlsHost", Napi::Function::New<CopyTlsHost>(env, "copyTlsHost"));
  exports.Set("createTicketKeys", Napi::Function::New<CreateTicketKeys>(env, "createTicketKeys"));
  exports.Set("makeDevCertificate",
              Napi::Function::New<MakeDevCertificate>(env, "makeDevCertificate"));
  exports.Set("constants", RecordConstants(env));
  exports.Set("hasHttp2", Napi::Boolean::New(env, HasHttp2()));
  exports.Set("formatVersion", Napi::Number::New(env, records::kFormatVersion));
  return exports;
}

}  // namespace
}  // namespace httpsys

static Napi::Object InitModule(Napi::Env env, Napi::Object exports) {
  return httpsys::Init(env, exports);
}

NODE_API_MODULE(httpsys, InitModule)
