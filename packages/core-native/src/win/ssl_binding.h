#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "win/http_api.h"

namespace httpsys::win {

// Whoever made a binding, as netsh shows it: this one is httpsys.
inline constexpr GUID kAppId = {
    0x6d1c2f4e, 0x3b7a, 0x4c58, {0x9e, 0x21, 0x5a, 0x0d, 0x8f, 0x63, 0x47, 0xb2}};

// As long as it is there the configuration may be read and changed. Thread: any.
class Configuration {
 public:
  Configuration() : error_(HttpInitialize(HTTPAPI_VERSION_2, HTTP_INITIALIZE_CONFIG, nullptr)) {}
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;
  ~Configuration() {
    if (error_ == NO_ERROR) HttpTerminate(HTTP_INITIALIZE_CONFIG, nullptr);
  }

  uint32_t error() const { return error_; }

 private:
  const uint32_t error_;
};

// A certificate that HTTP.SYS uses for a port, or for a host name and port: what
// `netsh http show sslcert` shows. It is the machine's, not this process's.
// Every status is NO_ERROR or the system's error code. Thread: any.
class SslBinding {
 public:
  std::string host;  // Empty = every address; an address; or a name, which counts for SNI.
  uint16_t port = 0;
  std::vector<uint8_t> hash;  // Of the certificate, SHA-1.
  std::string store = "MY";
  GUID app_id{};

  // Of exactly this host and port; ERROR_FILE_NOT_FOUND = there is none.
  uint32_t Read();
  uint32_t Write() const;
  uint32_t Delete() const;
  // All of them, those of names last.
  static uint32_t List(const std::function<void(const SslBinding&)>& each);

 private:
  bool is_named() const;
};

// Who may register the URLs below a prefix: `netsh http show urlacl`.
class UrlReservation {
 public:
  std::string prefix;
  std::string sddl;  // A security descriptor as text.

  uint32_t Write() const;
  uint32_t Delete() const;
  static uint32_t List(const std::function<void(const UrlReservation&)>& each);
};

}  // namespace httpsys::win
