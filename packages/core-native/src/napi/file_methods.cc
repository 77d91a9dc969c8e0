#include "napi/file_methods.h"

#include <cerrno>
#include <string>

#include "napi/arguments.h"

namespace httpsys {
namespace {

// Writes what JavaScript wants to know of a file into the array that it has given. Returns the id.
Napi::Value Tell(Napi::Env env, const KeptFile& kept, const Napi::Value& facts) {
  if (kept.id != 0 && facts.IsTypedArray() && facts.As<Napi::Float64Array>().ElementLength() >= 2) {
    Napi::Float64Array array = facts.As<Napi::Float64Array>();
    array[0] = int{kept.number};
    array[1] = static_cast<double>(kept.bytes);
  }
  return Napi::Number::New(env, kept.id);
}

Napi::Value FindFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  KeptFile kept;
  if (engine.backend() != nullptr && info[0].IsString()) {
    kept = engine.backend()->files().Find(info[0].As<Napi::String>());
  }
  return Tell(info.Env(), kept, info[1]);
}

Napi::Value KeepFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  KeptFile kept;
  if (engine.backend() != nullptr && info[0].IsString() && info[1].IsNumber()) {
    kept = engine.backend()->files().Keep(info[0].As<Napi::String>(),
                                          Descriptor(info[1].As<Napi::Number>().Int32Value()));
  }
  return Tell(info.Env(), kept, info[2]);
}

Napi::Value PinFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr) return Napi::Number::New(info.Env(), -EBADF);
  return Napi::Number::New(info.Env(), int{engine.backend()->files().Pin(Number(info, 0))});
}

void ReleaseFile(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() != nullptr) engine.backend()->files().Release(Number(info, 0));
}

}  // namespace

std::vector<EngineMethod> FileMethods() {
  return {
      EngineWrap::Method<FindFile>("findFile"),
      EngineWrap::Method<KeepFile>("keepFile"),
      EngineWrap::Method<PinFile>("pinFile"),
      EngineWrap::Method<ReleaseFile>("releaseFile"),
  };
}

}  // namespace httpsys
