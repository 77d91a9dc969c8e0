#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <utility>

#include "backend/create_engine.h"
#include "backend/tls_contexts.h"
#include "napi/arguments.h"
#include "napi/methods.h"
#include "napi/object_reader.h"

namespace httpsys {
namespace {

// Makes a handle, which keeps the object of the id alive.
template <typename Id>
Napi::Value Wrap(Napi::Env env, Id id) {
  if (id == Id::kNone) return env.Undefined();
  return Napi::External<Id>::New(env, new Id(id), [](Napi::Env, Id* kept) {
    Forget(*kept);
    delete kept;
  });
}

// Returns the OpenSSL context in Node's own handle. Node-API reads only externals that it has made
// (it expects a wrapper behind the pointer), so this calls V8's reader by its symbol name, which
// depends on the version.
SSL_CTX* ContextOf(Napi::Value value) {
  if (!value.IsExternal()) return nullptr;
  napi_value raw = value;
  if (void* reader = dlsym(RTLD_DEFAULT, "_ZNK2v88External5ValueEv")) {
    return static_cast<SSL_CTX*>(reinterpret_cast<void* (*)(napi_value)>(reader)(raw));
  }
  // Tag of V8's external values, required since V8 14; Node's values have this default.
  constexpr uint16_t kDefaultTag = 0;
  if (void* reader = dlsym(RTLD_DEFAULT, "_ZNK2v88External5ValueEt")) {
    return static_cast<SSL_CTX*>(
        reinterpret_cast<void* (*)(napi_value, uint16_t)>(reader)(raw, kDefaultTag));
  }
  return nullptr;
}

std::string BytesOf(Napi::Value value) {
  std::string bytes;
  (void)ReadValue(value, &bytes);
  return bytes;
}

bool IsTrue(Napi::Value value) { return value.IsBoolean() && value.As<Napi::Boolean>(); }

}  // namespace

Napi::Value CreateTicketKeys(const Napi::CallbackInfo& info) {
  return Wrap(info.Env(), MakeTicketKeys(BytesOf(info[0])));
}

Napi::Value CopyTlsHost(const Napi::CallbackInfo& info) {
  SSL_CTX* from = ContextOf(info[0]);
  return from == nullptr ? info.Env().Undefined()
                         : Wrap(info.Env(), MakeTlsHost(from, IsTrue(info[1])));
}

Napi::Value CreateTlsContext(const Napi::CallbackInfo& info) {
  TlsSettings settings;
  if (!ReadValue(info[0], &settings)) return info.Env().Undefined();
  return Wrap(info.Env(),
              MakeTlsContext(ContextOf(info[0].As<Napi::Object>().Get("context")), settings));
}

Napi::Value MakeDevCertificate(const Napi::CallbackInfo& info) {
  std::vector<std::string> names;
  if (!ReadValue(info[0], &names) || !info[1].IsNumber()) return info.Env().Undefined();
  const DevCertificate pair = CreateDevCertificate(names, info[1].As<Napi::Number>().Int32Value());
  if (pair.key.empty()) return info.Env().Undefined();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("key", pair.key);
  result.Set("cert", pair.certificate);
  return result;
}

HelloReply ReadHelloReply(Napi::Object given) {
  HelloReply answer;
  answer.is_refused = IsTrue(given.Get("isRefused"));
  answer.reason = BytesOf(given.Get("reason"));
  answer.host = HandleOf<TlsHostId>(given.Get("host"));
  const Napi::Value alpn = given.Get("alpn");
  answer.has_alpn = alpn.IsString();
  answer.alpn = BytesOf(alpn);
  answer.session = BytesOf(given.Get("session"));
  answer.status = BytesOf(given.Get("status"));
  return answer;
}

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
