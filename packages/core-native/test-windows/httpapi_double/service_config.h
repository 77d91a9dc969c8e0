#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model.h"

namespace httpapi_double {

// The configuration that HttpSetServiceConfiguration() changes, in memory: SSL
// bindings and URL reservations. Thread: with the kernel's lock.
class ServiceConfig {
 public:
  struct SslBinding {
    std::string hash;
    GUID app_id;
    std::wstring store;
    DWORD flags;
  };

  // `id` is a HTTP_SERVICE_CONFIG_ID.
  uint32_t Set(int id, const void* info, ULONG bytes);
  uint32_t Delete(int id, const void* info, ULONG bytes);
  uint32_t Query(int id, const void* query, ULONG query_bytes, void* memory, ULONG bytes,
                 ULONG* needed) const;

  bool HasSslBinding(uint16_t port) const { return FindSsl(port) != nullptr; }
  const SslBinding* FindSsl(uint16_t port) const;

 private:
  uint32_t QuerySsl(const HTTP_SERVICE_CONFIG_SSL_QUERY& query, void* memory, ULONG bytes,
                    ULONG* needed) const;
  uint32_t QuerySni(const SniQuery& query, void* memory, ULONG bytes, ULONG* needed) const;
  uint32_t QueryUrl(const HTTP_SERVICE_CONFIG_URLACL_QUERY& query, void* memory, ULONG bytes,
                    ULONG* needed) const;

  uint32_t SetUrl(const void* info, ULONG bytes);

  std::map<std::string, SslBinding> ssl_;         // By the bytes of the address.
  std::map<std::wstring, SslBinding> sni_;        // By "host:port".
  std::map<std::wstring, std::wstring> urlacls_;  // Prefix and security descriptor.
};

}  // namespace httpapi_double
