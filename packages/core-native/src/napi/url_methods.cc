// The addon's parts for a backend that is given URLs; socket_methods.cc has those for sockets.

#include <string>
#include <utility>
#include <vector>

#include "napi/arguments.h"
#include "napi/host_methods.h"
#include "napi/server_settings.h"
#include "napi/system_config.h"

namespace httpsys {
namespace {

uint32_t NumberOf(Napi::Object from, const char* name) {
  const Napi::Value value = from.Get(name);
  return value.IsNumber() ? value.As<Napi::Number>().Uint32Value() : 0;
}

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

// Reads the settings that the operating system needs, except certificates: it has its own.
bool ReadBackendSettings(Napi::Object config, ServerSettings* settings) {
  const Napi::Value value = config.Get("kernel");
  if (!value.IsObject()) return false;
  const Napi::Object from = value.As<Napi::Object>();
  const Napi::Value directory = from.Get("logDirectory");
  if (!directory.IsString()) return false;
  KernelSettings& to = settings->kernel;
  const std::pair<const char*, uint32_t*> numbers[] = {
      {"idle", &to.keep_alive_timeout},    {"header", &to.headers_timeout},
      {"body", &to.request_timeout},       {"drain", &to.drain_entity_body},
      {"queue", &to.request_queue},        {"sendRateMin", &to.min_send_rate},
      {"maxBandwidth", &to.max_bandwidth}, {"maxConnections", &to.max_connections},
      {"authSchemes", &to.auth_schemes},   {"logRollover", &to.log_rollover},
      {"logBytesMax", &to.log_bytes_max},
  };
  for (const auto& [name, number] : numbers) *number = NumberOf(from, name);
  to.allow_anonymous = IsTrue(from.Get("allowAnonymous"));
  to.buffer_responses = IsTrue(from.Get("bufferResponses"));
  to.log_is_ncsa = IsTrue(from.Get("logIsNcsa"));
  to.log_directory = directory.As<Napi::String>();
  return true;
}

}  // namespace httpsys
