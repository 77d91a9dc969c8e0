// The addon: what types/binding.d.ts declares.

#include <napi.h>

#include "napi/engine_wrap.h"
#include "napi/methods.h"
#include "records/records.h"

namespace httpsys {
namespace {

void FatalException(const Napi::CallbackInfo& info) { napi_fatal_exception(info.Env(), info[0]); }

Napi::Object CapabilitiesObject(Napi::Env env, const BackendCapabilities& capabilities) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", Napi::String::New(env, capabilities.name));
  object.Set("lanesMax", Napi::Number::New(env, capabilities.lanes_max));
  const auto set = [&](const char* name, bool value) {
    object.Set(name, Napi::Boolean::New(env, value));
  };
  set("listensOnSockets", capabilities.listens_on_sockets);
  set("keepsHeaderLines", capabilities.keeps_header_lines);
  set("seesConnections", capabilities.sees_connections);
  set("seesRefusedMessages", capabilities.sees_refused_messages);
  set("seesDisconnects", capabilities.sees_disconnects);
  set("aborts", capabilities.aborts);
  set("upgrades", capabilities.upgrades);
  set("informational", capabilities.informational);
  set("pipelines", capabilities.pipelines);
  set("chunkedBodies", capabilities.chunked_bodies);
  set("bodyPieces", capabilities.body_pieces);
  set("slowReaders", capabilities.slow_readers);
  set("nativeFrames", capabilities.native_frames);
  set("namedQueues", capabilities.named_queues);
  set("caches", capabilities.caches);
  set("cacheRules", capabilities.cache_rules);
  object.Set("cacheCodings", Napi::Number::New(env, capabilities.cache_codings));
  set("sendsFiles", capabilities.sends_files);
  set("servesFiles", capabilities.serves_files);
  set("kernelOptions", capabilities.kernel_options);
  set("systemCertificates", capabilities.system_certificates);
  set("foreignHosts", capabilities.foreign_hosts);
  set("ipv6", capabilities.ipv6);
  return object;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("Engine", EngineWrap::Define(env));
  exports.Set("fatalException", Napi::Function::New<FatalException>(env, "fatalException"));
  AddHostExports(env, exports);
  exports.Set("capabilities", CapabilitiesObject(env, HostCapabilities()));
  exports.Set("formatVersion", Napi::Number::New(env, records::kFormatVersion));
  return exports;
}

}  // namespace
}  // namespace httpsys

static Napi::Object InitModule(Napi::Env env, Napi::Object exports) {
  return httpsys::Init(env, exports);
}

NODE_API_MODULE(httpsys, InitModule)
