#pragma once
// A self-signed certificate for development, trusted by nobody.

#include <string>
#include <vector>

namespace httpsys::tls {

struct KeyPair {
  std::string key;  // PEM; empty if it could not be made.
  std::string certificate;
};

// Makes a self-signed certificate with a P-256 key for these host names and addresses. Thread: any.
KeyPair MakeDevCertificate(const std::vector<std::string>& names, int days);

}  // namespace httpsys::tls
