#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model.h"

namespace httpapi_double {

// The configuration that HttpSetServiceConfiguration() changes, in memory: SSL bindings and URL
// reservations. Thread: with the kernel's lock.
class ServiceConfig {
 public:
  struct SslBinding {
    std::string hash;
    GUID app_id;
    std::wstring store;
    DWORD flags;
  };

  uint32_t Set(HTTP_SERVICE_CONFIG_ID id, const void* info, ULONG bytes);
  uint32_t Delete(HTTP_SERVICE_CONFIG_ID id, const void* info, ULONG bytes);
  uint32_t Query(HTTP_SERVICE_CONFIG_ID id, const void* query, ULONG query_bytes, void* memory,
                 ULONG bytes, ULONG* needed) const;

  bool HasSslBinding(uint16_t port) const { return FindSsl(port) != nullptr; }
  const SslBinding* FindSsl(uint16_t port) const;

 private:
  uint32_t QuerySsl(const HTTP_SERVICE_CONFIG_SSL_QUERY& query, void* memory, ULONG bytes,
                    ULONG* needed) const;
  uint32_t QueryUrl(const HTTP_SERVICE_CONFIG_URLACL_QUERY& query, void* memory, ULONG bytes,
                    ULONG* needed) const;

  std::map<std::string, SslBinding> ssl_;         // By the bytes of the address.
  std::map<std::wstring, std::wstring> urlacls_;  // Prefix and security descriptor.
};

}  // namespace httpapi_double
