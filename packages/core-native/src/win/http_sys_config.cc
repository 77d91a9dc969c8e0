#include "backend/http_sys_config.h"

#include "win/ssl_binding.h"

namespace httpsys {
namespace {

using win::SslBinding;
using win::UrlReservation;

// Calls a function between HttpInitialize() and HttpTerminate().
template <typename Function>
uint32_t Configured(const Function& function) {
  const win::Configuration configuration;
  return configuration.error() != 0 ? configuration.error() : function();
}

SslBinding BindingOf(const CertificateBinding& from) {
  SslBinding binding;
  binding.host = from.host;
  binding.port = from.port;
  binding.hash = from.hash;
  binding.store = from.store;
  binding.app_id = win::kAppId;
  return binding;
}

CertificateBinding ValuesOf(const SslBinding& binding) {
  return {binding.host, binding.port, binding.hash, binding.store};
}

}  // namespace

uint32_t ListCertificateBindings(std::vector<CertificateBinding>* bindings) {
  return Configured([&] {
    return SslBinding::List(
        [&](const SslBinding& binding) { bindings->push_back(ValuesOf(binding)); });
  });
}

uint32_t FindCertificateBinding(CertificateBinding* binding) {
  return Configured([&] {
    SslBinding found = BindingOf(*binding);
    const uint32_t status = found.Read();
    if (status == 0) *binding = ValuesOf(found);
    return status;
  });
}

uint32_t AddCertificateBinding(const CertificateBinding& binding) {
  return Configured([&]() -> uint32_t {
    if (binding.hash.empty()) return ERROR_INVALID_PARAMETER;
    return BindingOf(binding).Write();
  });
}

uint32_t DeleteCertificateBinding(const CertificateBinding& binding) {
  return Configured([&] { return BindingOf(binding).Delete(); });
}

uint32_t ListReservedUrls(std::vector<ReservedUrl>* reserved) {
  return Configured([&] {
    return UrlReservation::List(
        [&](const UrlReservation& one) { reserved->push_back({one.prefix, one.sddl}); });
  });
}

uint32_t AddReservedUrl(const ReservedUrl& reserved) {
  return Configured([&] { return UrlReservation{reserved.prefix, reserved.sddl}.Write(); });
}

uint32_t DeleteReservedUrl(const ReservedUrl& reserved) {
  return Configured([&] { return UrlReservation{reserved.prefix, {}}.Delete(); });
}

}  // namespace httpsys
