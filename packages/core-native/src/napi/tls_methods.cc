#include "napi/tls_methods.h"

#include <string>
#include <utility>

#include "napi/arguments.h"
#include "napi/object_reader.h"
#include "napi/port_sharing.h"
#include "napi/tls_settings.h"

namespace httpsys {
namespace {

Napi::Value ChangeTerms(EngineWrap& engine, const Napi::CallbackInfo& info) {
  RegistrationResult conflict;
  const bool is_done =
      engine.backend() == nullptr ||
      engine.backend()->ChangeTerms(Number(info, 0), HandleOf<TlsContextId>(info[1]), &conflict);
  return is_done ? info.Env().Undefined() : Napi::Value(ResultObject(info.Env(), conflict));
}

void AnswerHello(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane) || engine.backend() == nullptr || !info[2].IsObject()) return;
  engine.backend()->AnswerHello(lane, Number(info, 1), ReadHelloReply(info[2].As<Napi::Object>()));
}

Napi::Value AskTls(EngineWrap& engine, const Napi::CallbackInfo& info) {
  size_t lane;
  if (!engine.ReadLane(info, &lane) || engine.backend() == nullptr) return info.Env().Undefined();
  std::string argument;
  if (info[3].IsTypedArray()) {
    const Napi::Uint8Array bytes = info[3].As<Napi::Uint8Array>();
    argument.assign(bytes.Data(), bytes.Data() + bytes.ByteLength());
  }
  const std::string answer =
      engine.backend()->AskTls(lane, Number(info, 1), Number(info, 2), std::move(argument));
  if (answer.empty()) return info.Env().Undefined();
  return Napi::Buffer<char>::Copy(info.Env(), answer.data(), answer.size());
}

}  // namespace

std::vector<EngineMethod> TlsMethods() {
  return {
      EngineWrap::Method<ChangeTerms>("changeTerms"),
      EngineWrap::Method<AnswerHello>("answerHello"),
      EngineWrap::Method<AskTls>("askTls"),
  };
}

}  // namespace httpsys
