#include "napi/system_config.h"

#include <string>

#include "napi/arguments.h"
#include "win/ssl_binding.h"

namespace httpsys {
namespace {

using win::SslBinding;
using win::UrlReservation;

Napi::Value Status(Napi::Env env, uint32_t status) { return Napi::Number::New(env, status); }

std::string Text(Napi::Value value) {
  return value.IsString() ? std::string(value.As<Napi::String>()) : std::string();
}

Napi::Object BindingObject(Napi::Env env, const SslBinding& binding) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("host", Napi::String::New(env, binding.host));
  object.Set("port", Napi::Number::New(env, binding.port));
  object.Set("store", Napi::String::New(env, binding.store));
  object.Set("hash", Napi::Buffer<uint8_t>::Copy(env, binding.hash.data(), binding.hash.size()));
  return object;
}

SslBinding BindingOf(const Napi::CallbackInfo& info) {
  SslBinding binding;
  binding.host = Text(info[0]);
  binding.port = static_cast<uint16_t>(Number(info, 1));
  binding.app_id = win::kAppId;
  return binding;
}

template <typename Item, typename Make>
Napi::Value List(Napi::Env env, const Make& make) {
  Napi::Array array = Napi::Array::New(env);
  const uint32_t status =
      Item::List([&](const Item& item) { array.Set(array.Length(), make(item)); });
  if (status != 0) return Status(env, status);
  return array;
}

Napi::Value ListCertificates(const Napi::CallbackInfo& info) {
  return List<SslBinding>(
      info.Env(), [&](const SslBinding& binding) { return BindingObject(info.Env(), binding); });
}

Napi::Value FindCertificate(const Napi::CallbackInfo& info) {
  SslBinding binding = BindingOf(info);
  const uint32_t status = binding.Read();
  if (status != 0) return Status(info.Env(), status);
  return BindingObject(info.Env(), binding);
}

Napi::Value AddCertificate(const Napi::CallbackInfo& info) {
  SslBinding binding = BindingOf(info);
  if (!info[2].IsTypedArray()) return Status(info.Env(), ERROR_INVALID_PARAMETER);
  const Napi::Uint8Array hash = info[2].As<Napi::Uint8Array>();
  binding.hash.assign(hash.Data(), hash.Data() + hash.ByteLength());
  binding.store = Text(info[3]);
  return Status(info.Env(), binding.Write());
}

Napi::Value DeleteCertificate(const Napi::CallbackInfo& info) {
  return Status(info.Env(), BindingOf(info).Delete());
}

Napi::Value ListReservations(const Napi::CallbackInfo& info) {
  return List<UrlReservation>(info.Env(), [&](const UrlReservation& reservation) {
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("prefix", Napi::String::New(info.Env(), reservation.prefix));
    object.Set("sddl", Napi::String::New(info.Env(), reservation.sddl));
    return object;
  });
}

Napi::Value AddReservation(const Napi::CallbackInfo& info) {
  return Status(info.Env(), UrlReservation{Text(info[0]), Text(info[1])}.Write());
}

Napi::Value DeleteReservation(const Napi::CallbackInfo& info) {
  return Status(info.Env(), UrlReservation{Text(info[0]), {}}.Delete());
}

// Every function is within a HttpInitialize() of its own.
template <Napi::Value (*kFunction)(const Napi::CallbackInfo&)>
Napi::Value Initialized(const Napi::CallbackInfo& info) {
  const win::Configuration configuration;
  if (configuration.error() != 0) return Status(info.Env(), configuration.error());
  return kFunction(info);
}

}  // namespace

Napi::Object SystemConfig(Napi::Env env) {
  Napi::Object object = Napi::Object::New(env);
  const auto set = [&](const char* name, Napi::Function function) { object.Set(name, function); };
  set("listCertificates", Napi::Function::New<Initialized<ListCertificates>>(env));
  set("findCertificate", Napi::Function::New<Initialized<FindCertificate>>(env));
  set("addCertificate", Napi::Function::New<Initialized<AddCertificate>>(env));
  set("deleteCertificate", Napi::Function::New<Initialized<DeleteCertificate>>(env));
  set("listReservations", Napi::Function::New<Initialized<ListReservations>>(env));
  set("addReservation", Napi::Function::New<Initialized<AddReservation>>(env));
  set("deleteReservation", Napi::Function::New<Initialized<DeleteReservation>>(env));
  return object;
}

}  // namespace httpsys
