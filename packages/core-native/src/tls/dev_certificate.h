#pragma once
// A certificate for development: made here, trusted by nobody.

#include <string>
#include <vector>

namespace httpsys::tls {

struct KeyPair {
  std::string key;  // PEM; empty when it could not be made.
  std::string certificate;
};

// Signed by itself, P-256, for these host names and addresses. Thread: any.
KeyPair MakeDevCertificate(const std::vector<std::string>& names, int days);

}  // namespace httpsys::tls
