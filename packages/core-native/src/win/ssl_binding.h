#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "win/http_api.h"

namespace httpsys::win {

// The application id of bindings made by httpsys; shown by netsh.
inline constexpr GUID kAppId = {
    0x6d1c2f4e, 0x3b7a, 0x4c58, {0x9e, 0x21, 0x5a, 0x0d, 0x8f, 0x63, 0x47, 0xb2}};

// Allows reading and changing the configuration of HTTP.SYS while the object exists. Thread: any.
class Configuration {
 public:
  Configuration() : error_(HttpInitialize(HTTPAPI_VERSION_2, HTTP_INITIALIZE_CONFIG, nullptr)) {}
  Configuration& operator=(Configuration&&) = delete;
  ~Configuration() {
    if (error_ == NO_ERROR) HttpTerminate(HTTP_INITIALIZE_CONFIG, nullptr);
  }

  uint32_t error() const { return error_; }

 private:
  const uint32_t error_;
};

// A certificate that HTTP.SYS uses for a port, or for a host name and port, as shown by `netsh http
// show sslcert`. Belongs to the machine, not to this process. Statuses are NO_ERROR or the system's
// error code. Thread: any.
class SslBinding {
 public:
  std::string host;  // Empty = every address; an IP address; or a host name (SNI).
  uint16_t port = 0;
  std::vector<uint8_t> hash;  // The SHA-1 hash of the certificate.
  std::string store = "MY";
  GUID app_id{};

  // Finds the binding of exactly this host and port; ERROR_FILE_NOT_FOUND = there is none.
  uint32_t Read();
  uint32_t Write() const;
  uint32_t Delete() const;
  // Calls `each` for all bindings, first those for addresses, then those for host names. Returns
  // NO_ERROR or the system's error code.
  static uint32_t List(const std::function<void(const SslBinding&)>& each);

 private:
  bool is_named() const;
};

// A URL prefix' reservation: who may register URLs below it (`netsh http show urlacl`).
class UrlReservation {
 public:
  std::string prefix;
  std::string sddl;  // A security descriptor as text.

  uint32_t Write() const;
  uint32_t Delete() const;
  static uint32_t List(const std::function<void(const UrlReservation&)>& each);
};

}  // namespace httpsys::win
