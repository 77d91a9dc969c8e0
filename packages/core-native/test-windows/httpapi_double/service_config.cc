#include "service_config.h"

#include <cstring>

namespace httpapi_double {
namespace {

size_t AddressBytes(const SOCKADDR* address) {
  return address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string KeyOf(const SOCKADDR* address) {
  return {reinterpret_cast<const char*>(address), AddressBytes(address)};
}

uint16_t PortOf(const std::string& key) {
  sockaddr_in v4;  // The port is at the same place in both.
  std::memcpy(&v4, key.data(), sizeof v4);
  return ntohs(v4.sin_port);
}

// The item that a query means, by key or by number.
template <typename Map, typename Key>
uint32_t FindItem(const Map& map, HTTP_SERVICE_CONFIG_QUERY_TYPE type, const Key& key, DWORD token,
                  typename Map::const_iterator* found) {
  if (type == HttpServiceConfigQueryExact) {
    *found = map.find(key);
    return *found == map.end() ? ERROR_FILE_NOT_FOUND : NO_ERROR;
  }
  if (type != HttpServiceConfigQueryNext) return ERROR_INVALID_PARAMETER;
  if (token >= map.size()) return ERROR_NO_MORE_ITEMS;
  *found = std::next(map.begin(), static_cast<std::ptrdiff_t>(token));
  return NO_ERROR;
}

// Copies behind the structure, and moves on.
void* Append(char** at, const void* bytes, size_t count) {
  void* copy = *at;
  std::memcpy(copy, bytes, count);
  *at += (count + 7) / 8 * 8;
  return copy;
}

std::wstring KeyOf(const SniKey& key) {
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(key.IpPort);
  return std::wstring(key.Host) + L':' + std::to_wstring(ntohs(v4.sin_port));
}

// ERROR_INVALID_PARAMETER, or what there is for a certificate that is not in
// its store.
uint32_t ReadParam(const HTTP_SERVICE_CONFIG_SSL_PARAM& param, ServiceConfig::SslBinding* binding) {
  if (param.SslHashLength == 0 || param.pSslHash == nullptr) return ERROR_INVALID_PARAMETER;
  // Any hash of SHA-1's length is the certificate that it names.
  if (param.SslHashLength != 20) return ERROR_NO_SUCH_LOGON_SESSION;
  *binding = {{static_cast<const char*>(param.pSslHash), param.SslHashLength},
              param.AppId,
              param.pSslCertStoreName != nullptr ? param.pSslCertStoreName : L"MY",
              param.DefaultFlags};
  return NO_ERROR;
}

size_t TextBytes(const std::wstring& text) { return (text.size() + 1) * sizeof(wchar_t); }
ULONG Rounded(size_t bytes) { return static_cast<ULONG>((bytes + 7) / 8 * 8); }

size_t ParamBytes(const ServiceConfig::SslBinding& binding) {
  return Rounded(binding.hash.size()) + Rounded(TextBytes(binding.store));
}

void WriteParam(const ServiceConfig::SslBinding& binding, char** at,
                HTTP_SERVICE_CONFIG_SSL_PARAM* param) {
  param->SslHashLength = static_cast<ULONG>(binding.hash.size());
  param->pSslHash = Append(at, binding.hash.data(), binding.hash.size());
  param->AppId = binding.app_id;
  param->pSslCertStoreName =
      static_cast<PWSTR>(Append(at, binding.store.c_str(), TextBytes(binding.store)));
  param->DefaultFlags = binding.flags;
}

}  // namespace

const ServiceConfig::SslBinding* ServiceConfig::FindSsl(uint16_t port) const {
  for (const auto& [key, binding] : ssl_) {
    if (PortOf(key) == port) return &binding;
  }
  for (const auto& [key, binding] : sni_) {
    if (key.ends_with(L':' + std::to_wstring(port))) return &binding;
  }
  return nullptr;
}

uint32_t ServiceConfig::Set(int id, const void* info, ULONG bytes) {
  SslBinding binding;
  bool is_new = false;
  if (id == HttpServiceConfigSSLCertInfo) {
    if (info == nullptr || bytes != sizeof(HTTP_SERVICE_CONFIG_SSL_SET)) {
      return ERROR_INVALID_PARAMETER;
    }
    const auto& set = *static_cast<const HTTP_SERVICE_CONFIG_SSL_SET*>(info);
    if (set.KeyDesc.pIpPort == nullptr) return ERROR_INVALID_PARAMETER;
    const uint32_t error = ReadParam(set.ParamDesc, &binding);
    if (error != NO_ERROR) return error;
    is_new = ssl_.emplace(KeyOf(set.KeyDesc.pIpPort), std::move(binding)).second;
  } else if (id == kConfigSslSni) {
    if (info == nullptr || bytes != sizeof(SniSet)) return ERROR_INVALID_PARAMETER;
    const auto& set = *static_cast<const SniSet*>(info);
    if (set.KeyDesc.Host == nullptr) return ERROR_INVALID_PARAMETER;
    // A name's certificate has no store by default.
    if (set.ParamDesc.pSslCertStoreName == nullptr) return ERROR_INVALID_PARAMETER;
    const uint32_t error = ReadParam(set.ParamDesc, &binding);
    if (error != NO_ERROR) return error;
    is_new = sni_.emplace(KeyOf(set.KeyDesc), std::move(binding)).second;
  } else {
    return id == HttpServiceConfigUrlAclInfo ? SetUrl(info, bytes) : ERROR_NOT_SUPPORTED;
  }
  return is_new ? NO_ERROR : ERROR_ALREADY_EXISTS;
}

uint32_t ServiceConfig::SetUrl(const void* info, ULONG bytes) {
  if (info == nullptr || bytes != sizeof(HTTP_SERVICE_CONFIG_URLACL_SET)) {
    return ERROR_INVALID_PARAMETER;
  }
  const auto& set = *static_cast<const HTTP_SERVICE_CONFIG_URLACL_SET*>(info);
  if (set.KeyDesc.pUrlPrefix == nullptr || set.ParamDesc.pStringSecurityDescriptor == nullptr) {
    return ERROR_INVALID_PARAMETER;
  }
  const bool is_new =
      urlacls_.emplace(set.KeyDesc.pUrlPrefix, set.ParamDesc.pStringSecurityDescriptor).second;
  return is_new ? NO_ERROR : ERROR_ALREADY_EXISTS;
}

uint32_t ServiceConfig::Delete(int id, const void* info, ULONG bytes) {
  size_t erased = 0;
  // A program may give the key alone or the whole of what it set.
  const auto has = [&](size_t least) { return info != nullptr && bytes >= least; };
  if (id == HttpServiceConfigSSLCertInfo) {
    if (!has(sizeof(HTTP_SERVICE_CONFIG_SSL_KEY))) return ERROR_INVALID_PARAMETER;
    erased = ssl_.erase(KeyOf(static_cast<const HTTP_SERVICE_CONFIG_SSL_KEY*>(info)->pIpPort));
  } else if (id == kConfigSslSni) {
    if (!has(sizeof(SniKey))) return ERROR_INVALID_PARAMETER;
    erased = sni_.erase(KeyOf(*static_cast<const SniKey*>(info)));
  } else if (id == HttpServiceConfigUrlAclInfo) {
    if (!has(sizeof(HTTP_SERVICE_CONFIG_URLACL_KEY))) return ERROR_INVALID_PARAMETER;
    erased = urlacls_.erase(static_cast<const HTTP_SERVICE_CONFIG_URLACL_KEY*>(info)->pUrlPrefix);
  } else {
    return ERROR_NOT_SUPPORTED;
  }
  return erased != 0 ? NO_ERROR : ERROR_FILE_NOT_FOUND;
}

uint32_t ServiceConfig::Query(int id, const void* query, ULONG query_bytes, void* memory,
                              ULONG bytes, ULONG* needed) const {
  if (query == nullptr) return ERROR_INVALID_PARAMETER;
  const auto is = [&](size_t size) { return query_bytes == size; };
  if (id == HttpServiceConfigSSLCertInfo) {
    if (!is(sizeof(HTTP_SERVICE_CONFIG_SSL_QUERY))) return ERROR_INVALID_PARAMETER;
    return QuerySsl(*static_cast<const HTTP_SERVICE_CONFIG_SSL_QUERY*>(query), memory, bytes,
                    needed);
  }
  if (id == kConfigSslSni) {
    if (!is(sizeof(SniQuery))) return ERROR_INVALID_PARAMETER;
    return QuerySni(*static_cast<const SniQuery*>(query), memory, bytes, needed);
  }
  // There is no central store.
  if (id == kConfigSslCcs) return ERROR_FILE_NOT_FOUND;
  if (id != HttpServiceConfigUrlAclInfo) return ERROR_NOT_SUPPORTED;
  if (!is(sizeof(HTTP_SERVICE_CONFIG_URLACL_QUERY))) return ERROR_INVALID_PARAMETER;
  return QueryUrl(*static_cast<const HTTP_SERVICE_CONFIG_URLACL_QUERY*>(query), memory, bytes,
                  needed);
}

uint32_t ServiceConfig::QuerySsl(const HTTP_SERVICE_CONFIG_SSL_QUERY& query, void* memory,
                                 ULONG bytes, ULONG* needed) const {
  auto found = ssl_.end();
  const std::string key = query.KeyDesc.pIpPort != nullptr ? KeyOf(query.KeyDesc.pIpPort) : "";
  const uint32_t error = FindItem(ssl_, query.QueryDesc, key, query.dwToken, &found);
  if (error != NO_ERROR) return error;
  const auto& [address, binding] = *found;
  *needed = static_cast<ULONG>(Rounded(sizeof(HTTP_SERVICE_CONFIG_SSL_SET)) +
                               Rounded(address.size()) + ParamBytes(binding));
  if (bytes < *needed || memory == nullptr) return ERROR_INSUFFICIENT_BUFFER;
  auto* set = static_cast<HTTP_SERVICE_CONFIG_SSL_SET*>(memory);
  *set = {};
  char* at = static_cast<char*>(memory) + Rounded(sizeof *set);
  set->KeyDesc.pIpPort = static_cast<SOCKADDR*>(Append(&at, address.data(), address.size()));
  WriteParam(binding, &at, &set->ParamDesc);
  return NO_ERROR;
}

uint32_t ServiceConfig::QuerySni(const SniQuery& query, void* memory, ULONG bytes,
                                 ULONG* needed) const {
  auto found = sni_.end();
  const std::wstring key = query.KeyDesc.Host != nullptr ? KeyOf(query.KeyDesc) : L"";
  const uint32_t error = FindItem(sni_, query.QueryDesc, key, query.dwToken, &found);
  if (error != NO_ERROR) return error;
  const auto& [name, binding] = *found;
  const std::wstring host = name.substr(0, name.rfind(L':'));
  *needed =
      static_cast<ULONG>(Rounded(sizeof(SniSet)) + Rounded(TextBytes(host)) + ParamBytes(binding));
  if (bytes < *needed || memory == nullptr) return ERROR_INSUFFICIENT_BUFFER;
  auto* set = static_cast<SniSet*>(memory);
  *set = {};
  char* at = static_cast<char*>(memory) + Rounded(sizeof *set);
  auto& v4 = reinterpret_cast<sockaddr_in&>(set->KeyDesc.IpPort);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<u_short>(std::stoi(name.substr(host.size() + 1))));
  set->KeyDesc.Host = static_cast<PWSTR>(Append(&at, host.c_str(), TextBytes(host)));
  WriteParam(binding, &at, &set->ParamDesc);
  return NO_ERROR;
}

uint32_t ServiceConfig::QueryUrl(const HTTP_SERVICE_CONFIG_URLACL_QUERY& query, void* memory,
                                 ULONG bytes, ULONG* needed) const {
  auto found = urlacls_.end();
  const std::wstring key = query.KeyDesc.pUrlPrefix != nullptr ? query.KeyDesc.pUrlPrefix : L"";
  const uint32_t error = FindItem(urlacls_, query.QueryDesc, key, query.dwToken, &found);
  if (error != NO_ERROR) return error;
  *needed = Rounded(sizeof(HTTP_SERVICE_CONFIG_URLACL_SET)) + Rounded(TextBytes(found->first)) +
            Rounded(TextBytes(found->second));
  if (bytes < *needed || memory == nullptr) return ERROR_INSUFFICIENT_BUFFER;
  auto* set = static_cast<HTTP_SERVICE_CONFIG_URLACL_SET*>(memory);
  char* at = static_cast<char*>(memory) + Rounded(sizeof *set);
  set->KeyDesc.pUrlPrefix =
      static_cast<PWSTR>(Append(&at, found->first.c_str(), TextBytes(found->first)));
  set->ParamDesc.pStringSecurityDescriptor =
      static_cast<PWSTR>(Append(&at, found->second.c_str(), TextBytes(found->second)));
  return NO_ERROR;
}

}  // namespace httpapi_double
