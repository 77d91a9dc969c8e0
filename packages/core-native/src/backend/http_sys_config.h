#pragma once
// The configuration of HTTP.SYS that belongs to the machine: certificates and reserved URLs.

#include <cstdint>
#include <string>
#include <vector>

namespace httpsys {

// A certificate that HTTP.SYS uses for a port, or for a host name and port.
struct CertificateBinding {
  std::string host;  // Empty = every address; an IP address; or a host name (SNI).
  uint16_t port = 0;
  std::vector<uint8_t> hash;  // The SHA-1 hash of the certificate.
  std::string store = "MY";
};

// The users who may register URLs below a prefix.
struct ReservedUrl {
  std::string prefix;
  std::string sddl;  // A security descriptor as text.
};

// Statuses are 0 or the system's error code. Thread: any.

// Lists all bindings, host names last.
uint32_t ListCertificateBindings(std::vector<CertificateBinding>* bindings);
// Finds the binding of exactly this host and port, and fills in the other members.
uint32_t FindCertificateBinding(CertificateBinding* binding);
uint32_t AddCertificateBinding(const CertificateBinding& binding);
uint32_t DeleteCertificateBinding(const CertificateBinding& binding);
uint32_t ListReservedUrls(std::vector<ReservedUrl>* reserved);
uint32_t AddReservedUrl(const ReservedUrl& reserved);
uint32_t DeleteReservedUrl(const ReservedUrl& reserved);

}  // namespace httpsys
