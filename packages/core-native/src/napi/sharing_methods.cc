#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "napi/arguments.h"
#include "napi/methods.h"
#include "napi/object_reader.h"

namespace httpsys {
namespace {

void Introduce(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[1].IsString()) return;
  engine.backend()->Introduce(Number(info, 0), info[1].As<Napi::String>());
}

Napi::Value Meet(EngineWrap& engine, const Napi::CallbackInfo& info) {
  Stranger stranger;
  const int found = engine.backend() == nullptr
                        ? UV_EBADF
                        : engine.backend()->Meet(static_cast<uint16_t>(Number(info, 0)), &stranger);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("found", Napi::Number::New(info.Env(), found));
  result.Set("uid", Napi::Number::New(info.Env(), stranger.uid));
  result.Set("pid", Napi::Number::New(info.Env(), stranger.pid));
  return result;
}

Napi::Value TakeAlone(EngineWrap& engine, const Napi::CallbackInfo& info) {
  const int status = engine.backend() == nullptr
                         ? UV_EBADF
                         : engine.backend()->TakeAlone(static_cast<uint16_t>(Number(info, 0)));
  return Napi::Number::New(info.Env(), status);
}

Napi::Value Contribute(EngineWrap& engine, const Napi::CallbackInfo& info) {
  const int status = engine.backend() == nullptr
                         ? UV_EBADF
                         : engine.backend()->Contribute(
                               static_cast<uint16_t>(Number(info, 0)), Number(info, 1),
                               Descriptor(static_cast<int>(Number(info, 2))), info[3].ToBoolean());
  return Napi::Number::New(info.Env(), status);
}

void Withdraw(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr) return;
  engine.backend()->Withdraw(static_cast<uint16_t>(Number(info, 0)),
                             Descriptor(static_cast<int>(Number(info, 1))));
}

Napi::Value Sockets(EngineWrap& engine, const Napi::CallbackInfo& info) {
  PortSockets there;
  if (engine.backend() != nullptr)
    there = engine.backend()->Sockets(static_cast<uint16_t>(Number(info, 0)));
  return SocketsObject(info.Env(), there);
}

Napi::Value ListenBeside(EngineWrap& engine, const Napi::CallbackInfo& info) {
  std::vector<Descriptor> narrower;
  const Napi::Array list = info[2].IsArray() ? info[2].As<Napi::Array>() : Napi::Array();
  for (uint32_t i = 0; info[2].IsArray() && i < list.Length(); ++i) {
    const Napi::Value fd = list.Get(i);
    if (fd.IsNumber()) narrower.emplace_back(fd.As<Napi::Number>().Int32Value());
  }
  const int status = engine.backend() == nullptr ? UV_EBADF
                                                 : engine.backend()->ListenBeside(
                                                       static_cast<uint16_t>(Number(info, 0)),
                                                       static_cast<int>(Number(info, 1)), narrower);
  return Napi::Number::New(info.Env(), status);
}

Napi::Value Register(EngineWrap& engine, const Napi::CallbackInfo& info) {
  Registration wanted;
  if (!ReadValue(info[0], &wanted) || wanted.port == 0 || wanted.prefixes.empty()) {
    Napi::TypeError::New(info.Env(), "A registration is a Registration")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  RegistrationResult result;
  if (engine.backend() == nullptr) {
    result.error = EBADF;
  } else if (!engine.backend()->Register(wanted, &result)) {
    return info.Env().Undefined();
  }
  return ResultObject(info.Env(), result);
}

Napi::Value Unregister(EngineWrap& engine, const Napi::CallbackInfo& info) {
  std::vector<uint32_t> ids;
  if (engine.backend() == nullptr || !ReadValue(info[2], &ids)) {
    return Napi::Boolean::New(info.Env(), false);
  }
  const bool has_others = engine.backend()->Unregister(
      static_cast<uint16_t>(Number(info, 0)), Number(info, 1), std::move(ids), Number(info, 3),
      Number(info, 4), info[5].IsBoolean() && info[5].As<Napi::Boolean>());
  return Napi::Boolean::New(info.Env(), has_others);
}

void Reserve(EngineWrap& engine, const Napi::CallbackInfo& info) {
  std::vector<std::string> prefixes;
  if (engine.backend() == nullptr || !ReadValue(info[1], &prefixes)) return;
  engine.backend()->Reserve(static_cast<uint16_t>(Number(info, 0)), prefixes);
}

void Leave(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr) engine.backend()->Leave(static_cast<uint16_t>(Number(info, 0)));
}

}  // namespace

std::vector<EngineMethod> SharingMethods() {
  return {
      EngineWrap::Method<Introduce>("introduce"),
      EngineWrap::Method<Meet>("meet"),
      EngineWrap::Method<TakeAlone>("takeAlone"),
      EngineWrap::Method<Contribute>("contribute"),
      EngineWrap::Method<Withdraw>("withdraw"),
      EngineWrap::Method<Sockets>("sockets"),
      EngineWrap::Method<ListenBeside>("listenBeside"),
      EngineWrap::Method<Register>("register"),
      EngineWrap::Method<Unregister>("unregister"),
      EngineWrap::Method<Reserve>("reserve"),
      EngineWrap::Method<Leave>("leave"),
  };
}

void DeliverResults(EngineWrap* engine) {
  RegistrationResult result;
  while (engine->backend() != nullptr && engine->backend()->TakeResult(&result)) {
    napi_env env = engine->Env();
    const Napi::HandleScope scope(env);
    napi_value argument = ResultObject(env, result);
    napi_value receiver;
    napi_get_global(env, &receiver);
    if (engine->registered().IsEmpty() ||
        napi_make_callback(env, nullptr, receiver, engine->registered().Value(), 1, &argument,
                           nullptr) == napi_ok) {
      continue;
    }
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (!is_pending) {
      // The environment is being terminated: JavaScript has not received the sockets.
      for (const int fd : result.sockets) close(fd);
      return;
    }
    napi_value error;
    if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return;
    napi_fatal_exception(env, error);
  }
}

}  // namespace httpsys
