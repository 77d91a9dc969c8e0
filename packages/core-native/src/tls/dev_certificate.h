#pragma once
// Makes self-signed certificates for development; no client trusts them.

#include <string>
#include <vector>

namespace httpsys::tls {

struct KeyPair {
  std::string key;  // PEM; empty if making it failed.
  std::string certificate;
};

// Makes a self-signed certificate with a P-256 key for these host names and addresses. Thread: any.
KeyPair MakeDevCertificate(const std::vector<std::string>& names, int days);

}  // namespace httpsys::tls
