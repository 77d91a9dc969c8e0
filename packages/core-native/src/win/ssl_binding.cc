#include "win/ssl_binding.h"

#include <cstring>
#include <string_view>

#include "win/wide_text.h"

namespace httpsys::win {
namespace {

// First guess at an answer's size: enough for a certificate store's name and a hash. If it is too
// small, the system returns the needed size.
constexpr size_t kAnswerBytes = 1024;
constexpr size_t kAnswerBytesMax = 64 * 1024;

std::string Narrow(const wchar_t* text) {
  if (text == nullptr) return {};
  const int length = static_cast<int>(std::wcslen(text));
  std::string narrow;
  narrow.resize(static_cast<size_t>(
      WideCharToMultiByte(CP_UTF8, 0, text, length, nullptr, 0, nullptr, nullptr)));
  WideCharToMultiByte(CP_UTF8, 0, text, length, narrow.data(), static_cast<int>(narrow.size()),
                      nullptr, nullptr);
  return narrow;
}

// Converts an IP address. Returns false if the host is a name.
bool FillAddress(const std::string& host, uint16_t port, SOCKADDR_STORAGE* storage) {
  *storage = {};
  auto* v4 = reinterpret_cast<sockaddr_in*>(storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  if (host.empty() || inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) return true;
  auto* v6 = reinterpret_cast<sockaddr_in6*>(storage);
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    return true;
  }
  return false;
}

std::string AddressText(const SOCKADDR* address, uint16_t* port) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    *port = ntohs(v6.sin6_port);
    return inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) == nullptr ? "" : text;
  }
  sockaddr_in v4;
  std::memcpy(&v4, address, sizeof v4);
  *port = ntohs(v4.sin_port);
  if (v4.sin_addr.s_addr == INADDR_ANY) return {};
  return inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) == nullptr ? "" : text;
}

void TakeParam(const HTTP_SERVICE_CONFIG_SSL_PARAM& param, SslBinding* binding) {
  const auto* hash = static_cast<const uint8_t*>(param.pSslHash);
  binding->hash.clear();
  if (hash != nullptr) binding->hash.assign(hash, hash + param.SslHashLength);
  binding->app_id = param.AppId;
  binding->store = Narrow(param.pSslCertStoreName);
}

// Runs a query with enough memory for its answer.
template <typename Query>
uint32_t Ask(int id, Query* query, std::vector<uint64_t>* answer) {
  size_t bytes = kAnswerBytes;
  for (;;) {
    answer->assign(bytes / sizeof(uint64_t), 0);
    ULONG needed = 0;
    const ULONG error = HttpQueryServiceConfiguration(
        nullptr, static_cast<HTTP_SERVICE_CONFIG_ID>(id), query, sizeof *query, answer->data(),
        static_cast<ULONG>(bytes), &needed, nullptr);
    if (error != ERROR_INSUFFICIENT_BUFFER && error != ERROR_MORE_DATA) return error;
    if (needed <= bytes || needed > kAnswerBytesMax) return error;
    bytes = (needed + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
  }
}

// Calls `each` for every entry of a list. The system marks the end of the list by an error code.
template <typename Query, typename Each>
uint32_t AskAll(int id, Query* query, const Each& each) {
  query->QueryDesc = HttpServiceConfigQueryNext;
  std::vector<uint64_t> answer;
  for (query->dwToken = 0;; ++query->dwToken) {
    const uint32_t error = Ask(id, query, &answer);
    if (error == ERROR_NO_MORE_ITEMS || error == ERROR_FILE_NOT_FOUND ||
        error == ERROR_NOT_SUPPORTED) {
      return NO_ERROR;
    }
    if (error != NO_ERROR) return error;
    each(static_cast<void*>(answer.data()));
  }
}

template <typename Set>
uint32_t WriteConfig(int id, Set* set) {
  return HttpSetServiceConfiguration(nullptr, static_cast<HTTP_SERVICE_CONFIG_ID>(id), set,
                                     sizeof *set, nullptr);
}

template <typename Set>
uint32_t DeleteConfig(int id, Set* set) {
  return HttpDeleteServiceConfiguration(nullptr, static_cast<HTTP_SERVICE_CONFIG_ID>(id), set,
                                        sizeof *set, nullptr);
}

}  // namespace

bool SslBinding::is_named() const {
  SOCKADDR_STORAGE storage;
  return !FillAddress(host, port, &storage);
}

uint32_t SslBinding::Read() {
  std::vector<uint64_t> answer;
  if (is_named()) {
    std::wstring name = Widen(host);
    SslSniQuery query{};
    query.QueryDesc = HttpServiceConfigQueryExact;
    FillAddress({}, port, &query.KeyDesc.IpPort);
    query.KeyDesc.Host = name.data();
    const uint32_t error = Ask(kServiceConfigSslSni, &query, &answer);
    if (error == NO_ERROR) TakeParam(reinterpret_cast<SslSniSet*>(answer.data())->ParamDesc, this);
    return error == ERROR_NOT_SUPPORTED ? ERROR_FILE_NOT_FOUND : error;
  }
  SOCKADDR_STORAGE storage;
  FillAddress(host, port, &storage);
  HTTP_SERVICE_CONFIG_SSL_QUERY query{};
  query.QueryDesc = HttpServiceConfigQueryExact;
  query.KeyDesc.pIpPort = reinterpret_cast<SOCKADDR*>(&storage);
  const uint32_t error = Ask(HttpServiceConfigSSLCertInfo, &query, &answer);
  if (error == NO_ERROR) {
    TakeParam(reinterpret_cast<HTTP_SERVICE_CONFIG_SSL_SET*>(answer.data())->ParamDesc, this);
  }
  if (error != ERROR_FILE_NOT_FOUND || !host.empty()) return error;
  SslCcsQuery central{};
  central.QueryDesc = HttpServiceConfigQueryExact;
  central.LocalAddress = storage;
  // Windows before version 8 does not know this query.
  const uint32_t found = Ask(kServiceConfigSslCcs, &central, &answer);
  return found == NO_ERROR ? NO_ERROR : ERROR_FILE_NOT_FOUND;
}

uint32_t SslBinding::Write() const {
  std::wstring wide_store = Widen(store);
  std::wstring name = Widen(host);
  HTTP_SERVICE_CONFIG_SSL_PARAM param{};
  param.SslHashLength = static_cast<ULONG>(hash.size());
  param.pSslHash = const_cast<uint8_t*>(hash.data());
  param.AppId = app_id;
  param.pSslCertStoreName = wide_store.data();
  if (is_named()) {
    SslSniSet set{};
    FillAddress({}, port, &set.KeyDesc.IpPort);
    set.KeyDesc.Host = name.data();
    set.ParamDesc = param;
    return WriteConfig(kServiceConfigSslSni, &set);
  }
  SOCKADDR_STORAGE storage;
  FillAddress(host, port, &storage);
  HTTP_SERVICE_CONFIG_SSL_SET set{};
  set.KeyDesc.pIpPort = reinterpret_cast<SOCKADDR*>(&storage);
  set.ParamDesc = param;
  return WriteConfig(HttpServiceConfigSSLCertInfo, &set);
}

uint32_t SslBinding::Delete() const {
  std::wstring name = Widen(host);
  if (is_named()) {
    SslSniSet set{};
    FillAddress({}, port, &set.KeyDesc.IpPort);
    set.KeyDesc.Host = name.data();
    return DeleteConfig(kServiceConfigSslSni, &set);
  }
  SOCKADDR_STORAGE storage;
  FillAddress(host, port, &storage);
  HTTP_SERVICE_CONFIG_SSL_SET set{};
  set.KeyDesc.pIpPort = reinterpret_cast<SOCKADDR*>(&storage);
  return DeleteConfig(HttpServiceConfigSSLCertInfo, &set);
}

uint32_t SslBinding::List(const std::function<void(const SslBinding&)>& each) {
  HTTP_SERVICE_CONFIG_SSL_QUERY query{};
  const uint32_t error = AskAll(HttpServiceConfigSSLCertInfo, &query, [&](void* memory) {
    const auto* set = static_cast<const HTTP_SERVICE_CONFIG_SSL_SET*>(memory);
    SslBinding binding;
    binding.host = AddressText(set->KeyDesc.pIpPort, &binding.port);
    TakeParam(set->ParamDesc, &binding);
    each(binding);
  });
  if (error != NO_ERROR) return error;
  SslSniQuery named{};
  return AskAll(kServiceConfigSslSni, &named, [&](void* memory) {
    const auto* set = static_cast<const SslSniSet*>(memory);
    SslBinding binding;
    AddressText(reinterpret_cast<const SOCKADDR*>(&set->KeyDesc.IpPort), &binding.port);
    binding.host = Narrow(set->KeyDesc.Host);
    TakeParam(set->ParamDesc, &binding);
    each(binding);
  });
}

// -- Reservations.

uint32_t UrlReservation::Write() const {
  std::wstring url = Widen(prefix);
  std::wstring who = Widen(sddl);
  HTTP_SERVICE_CONFIG_URLACL_SET set{{url.data()}, {who.data()}};
  return WriteConfig(HttpServiceConfigUrlAclInfo, &set);
}

uint32_t UrlReservation::Delete() const {
  std::wstring url = Widen(prefix);
  HTTP_SERVICE_CONFIG_URLACL_SET set{{url.data()}, {nullptr}};
  return DeleteConfig(HttpServiceConfigUrlAclInfo, &set);
}

uint32_t UrlReservation::List(const std::function<void(const UrlReservation&)>& each) {
  HTTP_SERVICE_CONFIG_URLACL_QUERY query{};
  return AskAll(HttpServiceConfigUrlAclInfo, &query, [&](void* memory) {
    const auto* set = static_cast<const HTTP_SERVICE_CONFIG_URLACL_SET*>(memory);
    each({Narrow(set->KeyDesc.pUrlPrefix), Narrow(set->ParamDesc.pStringSecurityDescriptor)});
  });
}

}  // namespace httpsys::win
