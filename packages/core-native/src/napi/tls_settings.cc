#include "napi/tls_settings.h"

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "backend/create_engine.h"
#include "backend/tls_contexts.h"
#include "napi/server_settings.h"

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

template <typename Id>
Id Unwrap(Napi::Value value) {
  return value.IsExternal() ? *value.As<Napi::External<Id>>().Data() : Id::kNone;
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
  if (value.IsString()) return value.As<Napi::String>();
  if (!value.IsTypedArray()) return {};
  const Napi::Uint8Array bytes = value.As<Napi::Uint8Array>();
  return {reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength()};
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
  if (!info[0].IsObject()) return info.Env().Undefined();
  const Napi::Object given = info[0].As<Napi::Object>();
  TlsSettings settings;
  settings.ticket_keys = Unwrap<TicketKeysId>(given.Get("ticketKeys"));
  settings.session_id_context = BytesOf(given.Get("sessionIdContext"));
  settings.alpn = BytesOf(given.Get("alpn"));
  settings.asks_host = IsTrue(given.Get("asksHost"));
  settings.asks_alpn = IsTrue(given.Get("asksAlpn"));
  settings.asks_session = IsTrue(given.Get("asksSession"));
  settings.asks_status = IsTrue(given.Get("asksStatus"));
  settings.tells_sessions = IsTrue(given.Get("tellsSessions"));
  settings.logs_keys = IsTrue(given.Get("logsKeys"));
  settings.requests_certificate = IsTrue(given.Get("requestCert"));
  settings.rejects_unauthorized = IsTrue(given.Get("rejectUnauthorized"));
  const Napi::Value timeout = given.Get("handshakeTimeout");
  if (timeout.IsNumber()) {
    settings.handshake_timeout_ms = timeout.As<Napi::Number>().Uint32Value();
  }
  const Napi::Value hosts = given.Get("hosts");
  const uint32_t count = hosts.IsArray() ? hosts.As<Napi::Array>().Length() : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::Value item = hosts.As<Napi::Array>().Get(i);
    if (!item.IsObject()) return info.Env().Undefined();
    const Napi::Object host = item.As<Napi::Object>();
    settings.hosts.push_back(
        {BytesOf(host.Get("pattern")), Unwrap<TlsHostId>(host.Get("context"))});
  }
  return Wrap(info.Env(), MakeTlsContext(ContextOf(given.Get("context")), settings));
}

Napi::Value MakeDevCertificate(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray() || !info[1].IsNumber()) return info.Env().Undefined();
  const DevCertificate pair = CreateDevCertificate(Strings(info[0].As<Napi::Array>()),
                                                   info[1].As<Napi::Number>().Int32Value());
  if (pair.key.empty()) return info.Env().Undefined();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("key", pair.key);
  result.Set("cert", pair.certificate);
  return result;
}

TlsContextId TlsContextOf(Napi::Value value) { return Unwrap<TlsContextId>(value); }

HelloReply ReadHelloReply(Napi::Object given) {
  HelloReply answer;
  answer.is_refused = IsTrue(given.Get("isRefused"));
  answer.reason = BytesOf(given.Get("reason"));
  answer.host = Unwrap<TlsHostId>(given.Get("host"));
  const Napi::Value alpn = given.Get("alpn");
  answer.has_alpn = alpn.IsString();
  answer.alpn = BytesOf(alpn);
  answer.session = BytesOf(given.Get("session"));
  answer.status = BytesOf(given.Get("status"));
  return answer;
}

bool ReadBackendSettings(Napi::Object config, ServerSettings* settings) {
  settings->tls = TlsContextOf(config.Get("tls"));
  const Napi::Value listening = config.Get("listening");
  if (!listening.IsNumber()) return false;
  settings->listening = listening.As<Napi::Number>().Uint32Value();
  return true;
}

}  // namespace httpsys
