#include <cstdint>
#include <string>

#include "napi/arguments.h"
#include "napi/methods.h"
#include "napi/object_of.h"

namespace httpsys {
namespace {

void SetCacheBytes(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[0].IsNumber() || !info[1].IsNumber()) return;
  const int64_t bytes = info[0].As<Napi::Number>();
  const int64_t port_bytes = info[1].As<Napi::Number>();
  engine.backend()->cache().SetBytes(bytes > 0 ? static_cast<uint64_t>(bytes) : 0,
                                     port_bytes > 0 ? static_cast<uint64_t>(port_bytes) : 0);
}

// Implements flushCache(): returns the number of removed entries; -EINVAL if the text is no URL.
Napi::Value FlushCache(EngineWrap& engine, const Napi::CallbackInfo& info) {
  if (engine.backend() == nullptr || !info[1].IsString()) return info.Env().Undefined();
  const int64_t flushed = engine.backend()->cache().Flush(
      Number(info, 0), info[1].As<Napi::String>(), info[2].ToBoolean());
  return Napi::Number::New(info.Env(), static_cast<double>(flushed));
}

Napi::Value CacheEntries(EngineWrap& engine, const Napi::CallbackInfo& info) {
  Napi::Array list = Napi::Array::New(info.Env());
  if (engine.backend() == nullptr || !info[1].IsString()) return list;
  uint32_t count = 0;
  for (CacheEntry& entry : engine.backend()->cache().Entries(
           Number(info, 0), info[1].As<Napi::String>(), Number(info, 2))) {
    list.Set(count++, ObjectOf(info.Env(), entry));
  }
  return list;
}

void AddFigures(const std::vector<CacheFigure>& figures, Napi::Object* object) {
  for (const CacheFigure& figure : figures) {
    object->Set(figure.name, Napi::Number::New(object->Env(), static_cast<double>(figure.value)));
  }
}

Napi::Value CacheStatisticsOf(EngineWrap& engine, const Napi::CallbackInfo& info) {
  Napi::Object object = Napi::Object::New(info.Env());
  if (engine.backend() == nullptr) return object;
  const CacheStatistics statistics = engine.backend()->cache().Statistics(Number(info, 0));
  AddFigures(statistics.figures, &object);
  Napi::Object refused = Napi::Object::New(info.Env());
  AddFigures(statistics.refused, &refused);
  object.Set("refused", refused);
  return object;
}

}  // namespace

std::vector<EngineMethod> CacheMethods() {
  return {
      EngineWrap::Method<SetCacheBytes>("setCacheBytes"),
      EngineWrap::Method<FlushCache>("flushCache"),
      EngineWrap::Method<CacheEntries>("cacheEntries"),
      EngineWrap::Method<CacheStatisticsOf>("cacheStatistics"),
  };
}

}  // namespace httpsys
