#include <string>
#include <vector>

#include "backend/http_sys_config.h"
#include "napi/arguments.h"
#include "napi/methods.h"

namespace httpsys {
namespace {

Napi::Value Status(Napi::Env env, uint32_t status) { return Napi::Number::New(env, status); }

std::string Text(Napi::Value value) {
  return value.IsString() ? std::string(value.As<Napi::String>()) : std::string();
}

Napi::Object BindingObject(Napi::Env env, const CertificateBinding& binding) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("host", Napi::String::New(env, binding.host));
  object.Set("port", Napi::Number::New(env, binding.port));
  object.Set("store", Napi::String::New(env, binding.store));
  object.Set("hash", Napi::Buffer<uint8_t>::Copy(env, binding.hash.data(), binding.hash.size()));
  return object;
}

CertificateBinding BindingOf(const Napi::CallbackInfo& info) {
  CertificateBinding binding;
  binding.host = Text(info[0]);
  binding.port = static_cast<uint16_t>(Number(info, 1));
  return binding;
}

template <typename Item, typename Make>
Napi::Value ListObject(Napi::Env env, uint32_t status, const std::vector<Item>& items,
                       const Make& make) {
  if (status != 0) return Status(env, status);
  Napi::Array array = Napi::Array::New(env);
  for (const Item& item : items) array.Set(array.Length(), make(env, item));
  return array;
}

Napi::Value ListCertificates(const Napi::CallbackInfo& info) {
  std::vector<CertificateBinding> bindings;
  const uint32_t status = ListCertificateBindings(&bindings);
  return ListObject(info.Env(), status, bindings, BindingObject);
}

Napi::Value FindCertificate(const Napi::CallbackInfo& info) {
  CertificateBinding binding = BindingOf(info);
  const uint32_t status = FindCertificateBinding(&binding);
  if (status != 0) return Status(info.Env(), status);
  return BindingObject(info.Env(), binding);
}

Napi::Value AddCertificate(const Napi::CallbackInfo& info) {
  CertificateBinding binding = BindingOf(info);
  const std::span<uint8_t> hash =
      info[2].IsTypedArray() ? MemoryOf(info[2].As<Napi::Uint8Array>()) : std::span<uint8_t>();
  binding.hash.assign(hash.begin(), hash.end());
  binding.store = Text(info[3]);
  return Status(info.Env(), AddCertificateBinding(binding));
}

Napi::Value DeleteCertificate(const Napi::CallbackInfo& info) {
  return Status(info.Env(), DeleteCertificateBinding(BindingOf(info)));
}

Napi::Value ListReservations(const Napi::CallbackInfo& info) {
  std::vector<ReservedUrl> reserved;
  const uint32_t status = ListReservedUrls(&reserved);
  return ListObject(info.Env(), status, reserved, [](Napi::Env env, const ReservedUrl& one) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("prefix", Napi::String::New(env, one.prefix));
    object.Set("sddl", Napi::String::New(env, one.sddl));
    return object;
  });
}

Napi::Value AddReservation(const Napi::CallbackInfo& info) {
  return Status(info.Env(), AddReservedUrl({Text(info[0]), Text(info[1])}));
}

Napi::Value DeleteReservation(const Napi::CallbackInfo& info) {
  return Status(info.Env(), DeleteReservedUrl({Text(info[0]), {}}));
}

}  // namespace

Napi::Object SystemConfig(Napi::Env env) {
  Napi::Object object = Napi::Object::New(env);
  const auto set = [&](const char* name, Napi::Function function) { object.Set(name, function); };
  set("listCertificates", Napi::Function::New<ListCertificates>(env));
  set("findCertificate", Napi::Function::New<FindCertificate>(env));
  set("addCertificate", Napi::Function::New<AddCertificate>(env));
  set("deleteCertificate", Napi::Function::New<DeleteCertificate>(env));
  set("listReservations", Napi::Function::New<ListReservations>(env));
  set("addReservation", Napi::Function::New<AddReservation>(env));
  set("deleteReservation", Napi::Function::New<DeleteReservation>(env));
  return object;
}

}  // namespace httpsys
