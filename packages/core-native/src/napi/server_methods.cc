#include <utility>

#include "napi/arguments.h"
#include "napi/methods.h"
#include "napi/object_reader.h"

namespace httpsys {
namespace {

void Configure(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr) return;
  ServerSettings settings;
  if (!ReadValue(info[1], &settings)) {
    Napi::TypeError::New(info.Env(), "The settings of a server are a ServerConfig")
        .ThrowAsJavaScriptException();
    return;
  }
  if (engine.backend()->Configure(Number(info, 0), std::move(settings)) != 0) {
    Napi::TypeError::New(info.Env(), "A URL prefix is not canonical or is given twice")
        .ThrowAsJavaScriptException();
  }
}

void Unlisten(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr) engine.backend()->Unlisten(Number(info, 0));
}

void CheckConnections(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr) return;
  engine.backend()->CheckConnections(Number(info, 0), Number(info, 1), Number(info, 2));
}

}  // namespace

std::vector<EngineMethod> ServerMethods() {
  return {
      EngineWrap::Method<Configure>("configure"),
      EngineWrap::Method<Unlisten>("unlisten"),
      EngineWrap::Method<CheckConnections>("checkConnections"),
  };
}

}  // namespace httpsys
