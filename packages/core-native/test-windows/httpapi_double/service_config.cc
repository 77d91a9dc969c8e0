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

size_t TextBytes(const std::wstring& text) { return (text.size() + 1) * sizeof(wchar_t); }
ULONG Rounded(size_t bytes) { return static_cast<ULONG>((bytes + 7) / 8 * 8); }

}  // namespace

const ServiceConfig::SslBinding* ServiceConfig::FindSsl(uint16_t port) const {
  for (const auto& [key, binding] : ssl_) {
    if (PortOf(key) == port) return &binding;
  }
  return nullptr;
}

uint32_t ServiceConfig::Set(HTTP_SERVICE_CONFIG_ID id, const void* info, ULONG bytes) {
  if (id == HttpServiceConfigSSLCertInfo) {
    if (info == nullptr || bytes != sizeof(HTTP_SERVICE_CONFIG_SSL_SET)) {
      return ERROR_INVALID_PARAMETER;
    }
    const auto& set = *static_cast<const HTTP_SERVICE_CONFIG_SSL_SET*>(info);
    const HTTP_SERVICE_CONFIG_SSL_PARAM& param = set.ParamDesc;
    if (set.KeyDesc.pIpPort == nullptr || param.SslHashLength == 0 || param.pSslHash == nullptr) {
      return ERROR_INVALID_PARAMETER;
    }
    // Any SHA-1 hash is the certificate that it names.
    if (param.SslHashLength != 20) return ERROR_NO_SUCH_LOGON_SESSION;
    SslBinding binding{{static_cast<const char*>(param.pSslHash), param.SslHashLength},
                       param.AppId,
                       param.pSslCertStoreName != nullptr ? param.pSslCertStoreName : L"MY",
                       param.DefaultFlags};
    const bool is_new = ssl_.emplace(KeyOf(set.KeyDesc.pIpPort), std::move(binding)).second;
    return is_new ? NO_ERROR : ERROR_ALREADY_EXISTS;
  }
  if (id != HttpServiceConfigUrlAclInfo) return ERROR_NOT_SUPPORTED;
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

uint32_t ServiceConfig::Delete(HTTP_SERVICE_CONFIG_ID id, const void* info, ULONG bytes) {
  size_t erased = 0;
  if (id == HttpServiceConfigSSLCertInfo) {
    // A program may give the key alone or the whole of what it set.
    if (info == nullptr || bytes < sizeof(HTTP_SERVICE_CONFIG_SSL_KEY)) {
      return ERROR_INVALID_PARAMETER;
    }
    erased = ssl_.erase(KeyOf(static_cast<const HTTP_SERVICE_CONFIG_SSL_KEY*>(info)->pIpPort));
  } else if (id == HttpServiceConfigUrlAclInfo) {
    if (info == nullptr || bytes < sizeof(HTTP_SERVICE_CONFIG_URLACL_KEY)) {
      return ERROR_INVALID_PARAMETER;
    }
    erased = urlacls_.erase(static_cast<const HTTP_SERVICE_CONFIG_URLACL_KEY*>(info)->pUrlPrefix);
  } else {
    return ERROR_NOT_SUPPORTED;
  }
  return erased != 0 ? NO_ERROR : ERROR_FILE_NOT_FOUND;
}

uint32_t ServiceConfig::Query(HTTP_SERVICE_CONFIG_ID id, const void* query, ULONG query_bytes,
                              void* memory, ULONG bytes, ULONG* needed) const {
  if (query == nullptr) return ERROR_INVALID_PARAMETER;
  if (id == HttpServiceConfigSSLCertInfo) {
    if (query_bytes != sizeof(HTTP_SERVICE_CONFIG_SSL_QUERY)) return ERROR_INVALID_PARAMETER;
    return QuerySsl(*static_cast<const HTTP_SERVICE_CONFIG_SSL_QUERY*>(query), memory, bytes,
                    needed);
  }
  if (id != HttpServiceConfigUrlAclInfo) return ERROR_NOT_SUPPORTED;
  if (query_bytes != sizeof(HTTP_SERVICE_CONFIG_URLACL_QUERY)) return ERROR_INVALID_PARAMETER;
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
  *needed = Rounded(sizeof(HTTP_SERVICE_CONFIG_SSL_SET)) + Rounded(address.size()) +
            Rounded(binding.hash.size()) + Rounded(TextBytes(binding.store));
  if (bytes < *needed || memory == nullptr) return ERROR_INSUFFICIENT_BUFFER;
  auto* set = static_cast<HTTP_SERVICE_CONFIG_SSL_SET*>(memory);
  *set = {};
  char* at = static_cast<char*>(memory) + Rounded(sizeof *set);
  set->KeyDesc.pIpPort = static_cast<SOCKADDR*>(Append(&at, address.data(), address.size()));
  set->ParamDesc.SslHashLength = static_cast<ULONG>(binding.hash.size());
  set->ParamDesc.pSslHash = Append(&at, binding.hash.data(), binding.hash.size());
  set->ParamDesc.AppId = binding.app_id;
  set->ParamDesc.pSslCertStoreName =
      static_cast<PWSTR>(Append(&at, binding.store.c_str(), TextBytes(binding.store)));
  set->ParamDesc.DefaultFlags = binding.flags;
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
