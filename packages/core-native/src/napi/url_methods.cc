// The addon's parts for a backend that is given URLs; socket_methods.cc has those for sockets.

#include <string>
#include <vector>

#include "napi/arguments.h"
#include "napi/methods.h"

namespace httpsys {
namespace {

bool IsTrue(Napi::Value value) { return value.IsBoolean() && value.As<Napi::Boolean>(); }

Napi::Value UrlResultObject(Napi::Env env, const UrlResult& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("status", Napi::Number::New(env, result.status));
  object.Set("property", Napi::String::New(env, result.property));
  object.Set("isAttached", Napi::Boolean::New(env, result.is_attached));
  return object;
}

Napi::Value OpenQueue(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[1].IsString()) return info.Env().Undefined();
  const uint32_t mode = Number(info, 2);
  if (mode > static_cast<uint32_t>(QueueMode::kAttach)) return info.Env().Undefined();
  return UrlResultObject(info.Env(),
                         engine.backend()->OpenQueue(Number(info, 0), info[1].As<Napi::String>(),
                                                     static_cast<QueueMode>(mode)));
}

Napi::Value AddUrl(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[2].IsString()) return info.Env().Undefined();
  return UrlResultObject(info.Env(), engine.backend()->AddUrl(Number(info, 0), Number(info, 1),
                                                              info[2].As<Napi::String>()));
}

void RemoveUrl(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr) engine.backend()->RemoveUrl(Number(info, 0), Number(info, 1));
}

Napi::Value FlushCache(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[1].IsString()) return info.Env().Undefined();
  const uint32_t status =
      engine.backend()->FlushCache(Number(info, 0), info[1].As<Napi::String>(), IsTrue(info[2]));
  return Napi::Number::New(info.Env(), status);
}

// The operating system keeps sessions, keys and handshakes to itself.
Napi::Value AskTls(EngineWrap&, const Napi::CallbackInfo& info) { return info.Env().Undefined(); }

}  // namespace

std::vector<EngineMethod> HostMethods() {
  return {
      EngineWrap::Method<OpenQueue>("openQueue"), EngineWrap::Method<AddUrl>("addUrl"),
      EngineWrap::Method<RemoveUrl>("removeUrl"), EngineWrap::Method<FlushCache>("flushCache"),
      EngineWrap::Method<AskTls>("askTls"),
  };
}

// The operating system, not the addon, knows which prefixes other processes have registered.
void AddHostExports(Napi::Env env, Napi::Object exports) {
  exports.Set("hasHttp2", Napi::Boolean::New(env, false));
  exports.Set("systemConfig", SystemConfig(env));
}

void AfterBatch(EngineWrap*) {}

void BeforeEnd(HostBackend*) {}

}  // namespace httpsys
