#include "napi/listening_methods.h"

#include "napi/arguments.h"

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

}  // namespace httpsys
